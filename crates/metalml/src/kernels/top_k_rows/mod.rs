//! The first few of each row, in order.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::engine::{Gpu, Native, OnHost, Shape, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/top_k_rows.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "top_k_rows",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// The first values of each row: k of them, row-major.
#[derive(Debug)]
pub struct TopK<E: Storage> {
    /// The values, the first first.
    pub values: E::Array<E::Elem>,
    /// Their columns.
    pub indices: E::Array<u32>,
}

/// How many may be asked for.
pub const MOST: usize = 1024;

/// Selection in rows.
pub trait TopKRows: Storage {
    /// The `k` least values of each row of `x`, or the `k` greatest, in this order; of equal ones the lowest column first, and NaN after all
    /// others. `k` is at least 1, and at most [`MOST`] and the number of columns. Reads the rows five times.
    fn top_k_rows(&self, x: &Self::Matrix, k: usize, greatest: bool) -> Result<TopK<Self>>;
}

fn checked(n_cols: usize, k: usize) -> Result<()> {
    if k == 0 || k > n_cols.min(MOST) {
        return Err(Error::Internal(format!("the first {k} of {n_cols} columns")));
    }
    Ok(())
}

impl TopKRows for Gpu<'_> {
    fn top_k_rows(&self, x: &Self::Matrix, k: usize, greatest: bool) -> Result<TopK<Self>> {
        checked(x.n_cols(), k)?;
        let (values, indices) = (self.alloc(x.n_rows() * k)?, self.alloc(x.n_rows() * k)?);
        for block in 0..x.n_blocks() {
            let (array, rows) = (self.block(x, block)?, x.rows_of(block));
            let params = Params {
                n_rows: rows.len() as u32,
                n_cols: x.n_cols() as u32,
                ld: x.ld as u32,
                first_row: rows.start as u32,
                k: k as u32,
                greatest: greatest.into(),
            };
            let bindings = Bindings {
                params,
                x: array,
                values: &values,
                indices: &indices,
            };
            let groups = params.n_rows.min(self.limits().max_groups);
            self.dispatch(&bindings, [groups, 1, 1], 8 * array.bytes())?;
        }
        Ok(TopK { values, indices })
    }
}

impl<T: OnHost> TopKRows for Native<'_, T> {
    fn top_k_rows(&self, x: &Self::Matrix, k: usize, greatest: bool) -> Result<TopK<Self>> {
        checked(x.view().n_cols(), k)?;
        let (values, indices) = native::top_k_rows(x.view(), k, greatest);
        Ok(TopK {
            values: values.into(),
            indices: indices.into(),
        })
    }
}
