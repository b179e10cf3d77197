//! Whole numbers in order: running sums, counts, and the order of floats. All exact.

mod cases;
mod native;
mod reference;

use super::{Family, sorting_count, sorting_histogram, sorting_keys, sorting_place, sorting_scan, sorting_scan_add};
use crate::Result;
use crate::device::Array;
use crate::engine::{Gpu, Native, OnHost, Storage};

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "sorting",
    kernels: &[
        sorting_scan::KERNEL,
        sorting_scan_add::KERNEL,
        sorting_histogram::KERNEL,
        sorting_keys::KERNEL,
        sorting_count::KERNEL,
        sorting_place::KERNEL,
    ],
    cases: cases::cases,
};

/// Running sums, counts and orders.
pub trait Sorting: Storage {
    /// The sum of what stands before each value; sums must stay below 2^32. Moves the values three times.
    fn scan(&self, values: &Self::Array<u32>) -> Result<Self::Array<u32>>;
    /// How often each number below `n_bins` occurs; others are not counted.
    fn histogram(&self, values: &Self::Array<u32>, n_bins: usize) -> Result<Self::Array<u32>>;
    /// The numbers of the values in ascending order; equal ones stay in their order, as do 0 and -0, and NaN comes last, as in `NumPy`. By
    /// digits, the last first: Knuth, TAOCP 3, section 5.2.5, algorithm R.
    fn argsort(&self, values: &Self::Array<Self::Elem>) -> Result<Self::Array<u32>>;
}

/// Keys that a workgroup moves.
const PER_SPLIT: usize = 4096;
/// Values of a digit.
const DIGITS: usize = 256;

impl Sorting for Gpu<'_> {
    fn scan(&self, values: &Array<u32>) -> Result<Array<u32>> {
        let (sums, totals) = sorting_scan::record(self, values)?;
        if totals.len() > 1 {
            let before = self.scan(&totals)?;
            sorting_scan_add::record(self, &before, &sums, sorting_scan::RUN)?;
        }
        Ok(sums)
    }

    fn histogram(&self, values: &Array<u32>, n_bins: usize) -> Result<Array<u32>> {
        let counts = self.upload(&vec![0_u32; n_bins])?;
        sorting_histogram::record(self, values, &counts)?;
        Ok(counts)
    }

    fn argsort(&self, values: &Array<f32>) -> Result<Array<u32>> {
        let mut at = sorting_keys::record(self, values)?;
        let len = values.len();
        let mut to = [self.alloc(len)?, self.alloc(len)?];
        let per_split = PER_SPLIT.max(len.div_ceil(self.limits().max_groups as usize));
        let n_splits = len.div_ceil(per_split);
        let counts = self.alloc(DIGITS * n_splits)?;
        for low_bit in (0..u32::BITS).step_by(8) {
            let params = sorting_count::Params {
                len: len as u32,
                per_split: per_split as u32,
                n_splits: n_splits as u32,
                low_bit,
            };
            sorting_count::record(self, params, &at[0], &counts)?;
            let starts = self.scan(&counts)?;
            let params = sorting_place::Params {
                len: params.len,
                per_split: params.per_split,
                n_splits: params.n_splits,
                low_bit,
            };
            sorting_place::record(self, params, &starts, &at, &to)?;
            std::mem::swap(&mut at, &mut to);
        }
        let [_, order] = at;
        Ok(order)
    }
}

impl<T: OnHost> Sorting for Native<'_, T> {
    fn scan(&self, values: &Self::Array<u32>) -> Result<Self::Array<u32>> {
        Ok(native::scan(values).into())
    }

    fn histogram(&self, values: &Self::Array<u32>, n_bins: usize) -> Result<Self::Array<u32>> {
        Ok(native::histogram(values, n_bins).into())
    }

    fn argsort(&self, values: &Self::Array<T>) -> Result<Self::Array<u32>> {
        Ok(native::argsort(values).into())
    }
}
