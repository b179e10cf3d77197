//! Values to bins, as histogram boosting wants them.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::engine::{Gpu, Native, OnHost, Shape, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/bin_values.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "bin_values",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// Where the bins of each column end.
#[derive(Clone, Debug)]
pub struct Bins {
    /// Ascending thresholds of each column, at most 255: a value has the bin of the first threshold that is not below it.
    pub thresholds: Vec<Vec<f64>>,
    /// The bin of NaN.
    pub missing: u8,
}

/// Mapping to bins.
pub trait BinValues: Storage {
    /// The bins of all values, as `numpy.searchsorted(thresholds, value, side="left")` has them: a byte each, four columns in a word, the first in the
    /// lowest bits; `ceil(n_cols / 4)` words a row. float32 values fall in the bins that they have as f64.
    fn bin_values(&self, x: &Self::Matrix, bins: &Bins) -> Result<Self::Array<u32>>;
}

/// Words that one thread makes.
const PER_THREAD: usize = 4;

fn checked(n_cols: usize, bins: &Bins) -> Result<()> {
    let most = bins.thresholds.iter().map(Vec::len).max().unwrap_or(0);
    if bins.thresholds.len() != n_cols || most > 255 || n_cols == 0 {
        return Err(Error::Internal(format!(
            "bins of {} columns, up to {most} thresholds, for {n_cols} columns",
            bins.thresholds.len()
        )));
    }
    Ok(())
}

/// The bits of the greatest float32 not above a threshold, in the order of floats: float32 values are at most either.
fn key(threshold: f64) -> u32 {
    let near = threshold as f32;
    let below = if f64::from(near) > threshold {
        near.next_down()
    } else {
        near
    };
    let bits = (below + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

impl BinValues for Gpu<'_> {
    fn bin_values(&self, x: &Self::Matrix, bins: &Bins) -> Result<Self::Array<u32>> {
        checked(x.n_cols(), bins)?;
        let words = x.n_cols().div_ceil(4);
        let mut keys: Vec<u32> = bins
            .thresholds
            .iter()
            .flatten()
            .map(|&threshold| key(threshold))
            .collect();
        let mut starts = vec![0_u32];
        for thresholds in &bins.thresholds {
            starts.push(starts[starts.len() - 1] + thresholds.len() as u32);
        }
        if keys.is_empty() {
            // No array is empty: kernels bind them all.
            keys.push(0);
        }
        let (keys, starts) = (self.upload(&keys)?, self.upload(&starts)?);
        let found = self.alloc(x.n_rows() * words)?;
        for block in 0..x.n_blocks() {
            let (array, rows) = (self.block(x, block)?, x.rows_of(block));
            let params = Params {
                n_rows: rows.len() as u32,
                first_row: rows.start as u32,
                n_cols: x.n_cols() as u32,
                ld: x.ld as u32,
                missing: bins.missing.into(),
            };
            let bindings = Bindings {
                params,
                x: array,
                thresholds: &keys,
                starts: &starts,
                bins: &found,
            };
            let groups = (rows.len() * words).div_ceil(PER_THREAD * KERNEL.workgroup[0] as usize);
            let groups = groups.min(self.limits().max_groups as usize);
            self.dispatch(&bindings, [groups as u32, 1, 1], 4 * array.bytes())?;
        }
        Ok(found)
    }
}

impl<T: OnHost> BinValues for Native<'_, T> {
    fn bin_values(&self, x: &Self::Matrix, bins: &Bins) -> Result<Self::Array<u32>> {
        checked(x.view().n_cols(), bins)?;
        Ok(native::bin_values(x.view(), bins).into())
    }
}
