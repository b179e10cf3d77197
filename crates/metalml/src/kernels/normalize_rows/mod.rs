//! Rows divided by their norm.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::matrix::MatrixViewMut;
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/normalize_rows.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "normalize_rows",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// Which norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowNorm {
    /// The sum of sizes.
    L1,
    /// The root of the sum of squares.
    L2,
    /// The largest size.
    Max,
}

impl RowNorm {
    /// The number by which the kernel knows it.
    fn number(self) -> u32 {
        match self {
            Self::L1 => 3,
            Self::L2 => 4,
            Self::Max => 5,
        }
    }
}

/// Normalisation of rows.
pub trait NormalizeRows: Storage {
    /// `out` = the rows of `x`, each divided by its norm; rows of zeros stay. Values must be finite; norms are taken at a power of two of the
    /// row's size, so rows of values of 1e25 or 1e-30 come out right.
    fn normalize_rows(&self, x: &Self::Matrix, norm: RowNorm, out: &mut Self::MatrixMut<'_>) -> Result<()>;
}

/// Values that one thread of a row takes, about, and threads of a row, at most.
const PER_LANE: usize = 4;
const MOST_LANES: usize = 32;
/// Workgroups that keep a large device busy.
const GROUPS: usize = 1 << 13;

impl<'a> NormalizeRows for Gpu<'a> {
    fn normalize_rows(&self, x: &Self::Matrix, norm: RowNorm, out: &mut &mut GpuMatrix<'a>) -> Result<()> {
        let lanes = x.n_cols().div_ceil(PER_LANE).next_power_of_two().min(MOST_LANES);
        for block in 0..x.n_blocks() {
            let (array, to) = (self.block(x, block)?, self.block(out, block)?);
            if out.rows_of(block) != x.rows_of(block) {
                return Err(Error::Internal("normalize_rows: blocks do not match".into()));
            }
            let params = Params {
                n_rows: x.rows_of(block).len() as u32,
                n_cols: x.n_cols() as u32,
                ld: x.ld as u32,
                out_ld: out.ld as u32,
                lanes: lanes as u32,
                kind: norm.number(),
            };
            let groups = (x.rows_of(block).len() * lanes).div_ceil(KERNEL.workgroup[0] as usize);
            let groups = groups.min(GROUPS).min(self.limits().max_groups as usize);
            let bindings = Bindings {
                params,
                x: array,
                out: to,
            };
            self.dispatch(&bindings, [groups as u32, 1, 1], 2 * array.bytes())?;
        }
        Ok(())
    }
}

impl<T: OnHost> NormalizeRows for Native<'_, T> {
    fn normalize_rows(&self, x: &Self::Matrix, norm: RowNorm, out: &mut MatrixViewMut<'_, T>) -> Result<()> {
        native::normalize_rows(x.view(), norm, out.values());
        Ok(())
    }
}
