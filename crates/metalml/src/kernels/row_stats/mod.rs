//! One number for each row: sums, norms, the least and the greatest value and where they are.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::engine::{Gpu, Native, OnHost, Shape, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/row_stats.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "row_stats",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// Which number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowStat {
    /// The sum.
    Sum,
    /// The least value; NaN if there is one, as in `NumPy`.
    Least,
    /// The greatest value, likewise.
    Greatest,
    /// The sum of sizes.
    L1,
    /// The root of the sum of squares; it overflows or vanishes only if it must.
    L2,
    /// The largest size.
    Max,
    /// The sum of squares.
    Squares,
}

/// What each row has.
#[derive(Debug)]
pub struct RowStats<E: Storage> {
    /// The number.
    pub values: E::Array<E::Elem>,
    /// For the least and the greatest, the first column that has it; 0 for all others.
    pub indices: E::Array<u32>,
}

/// Statistics of rows.
pub trait RowStatistics: Storage {
    /// The number of each of the n rows of `x`, which has at least one column. Reads `x` once, for norms twice.
    fn row_stats(&self, x: &Self::Matrix, stat: RowStat) -> Result<RowStats<Self>>;
}

/// Values that one thread of a row takes, about, and threads of a row, at most.
const PER_LANE: usize = 4;
const MOST_LANES: usize = 32;
/// Workgroups that keep a large device busy.
const GROUPS: usize = 1 << 13;

fn checked(n_cols: usize) -> Result<()> {
    if n_cols == 0 {
        return Err(Error::Internal("statistics of rows without columns".into()));
    }
    Ok(())
}

impl RowStatistics for Gpu<'_> {
    fn row_stats(&self, x: &Self::Matrix, stat: RowStat) -> Result<RowStats<Self>> {
        checked(x.n_cols())?;
        let (values, indices) = (self.alloc(x.n_rows())?, self.alloc(x.n_rows())?);
        let lanes = x.n_cols().div_ceil(PER_LANE).next_power_of_two().min(MOST_LANES);
        for block in 0..x.n_blocks() {
            let (array, rows) = (self.block(x, block)?, x.rows_of(block));
            let params = Params {
                n_rows: rows.len() as u32,
                n_cols: x.n_cols() as u32,
                ld: x.ld as u32,
                first_row: rows.start as u32,
                lanes: lanes as u32,
                kind: stat as u32,
            };
            let bindings = Bindings {
                params,
                x: array,
                values: &values,
                indices: &indices,
            };
            let groups = (rows.len() * lanes).div_ceil(KERNEL.workgroup[0] as usize);
            let groups = groups.min(GROUPS).min(self.limits().max_groups as usize);
            self.dispatch(&bindings, [groups as u32, 1, 1], array.bytes())?;
        }
        Ok(RowStats { values, indices })
    }
}

impl<T: OnHost> RowStatistics for Native<'_, T> {
    fn row_stats(&self, x: &Self::Matrix, stat: RowStat) -> Result<RowStats<Self>> {
        checked(x.view().n_cols())?;
        let (values, indices) = native::row_stats(x.view(), stat);
        Ok(RowStats {
            values: values.into(),
            indices: indices.into(),
        })
    }
}
