//! Rows through a linear map with an offset, each sum as if in wider numbers: what every model with coefficients predicts by.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::matrix::MatrixViewMut;
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/linear_map.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "linear_map",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// A linear map with an offset.
pub trait LinearMap: Storage {
    /// `out = x weightsᵀ + 1 offsetᵀ`: `x` is n by d, `weights` t by d, `offset` has t elements, `out` is n by t.
    ///
    /// Sums are kept in two floats on the GPU and in f64 natively, and rounded once. A row that is not finite is an error.
    fn linear_map(
        &self,
        x: &Self::Matrix,
        weights: &Self::Matrix,
        offset: &Self::Array<Self::Wide>,
        out: &mut Self::MatrixMut<'_>,
    ) -> Result<()>;
}

/// Threads that share a row, at most.
const MOST_LANES: usize = 32;

impl<'a> LinearMap for Gpu<'a> {
    fn linear_map(
        &self,
        x: &Self::Matrix,
        weights: &Self::Matrix,
        offset: &Self::Array<Self::Wide>,
        out: &mut &mut GpuMatrix<'a>,
    ) -> Result<()> {
        let lanes = x.n_cols().div_ceil(4).next_power_of_two().clamp(1, MOST_LANES);
        for block in 0..x.n_blocks() {
            let rows = x.rows_of(block).len();
            if out.rows_of(block) != x.rows_of(block) {
                return Err(Error::Internal("linear_map: blocks do not match".into()));
            }
            let (array, to) = (self.block(x, block)?, self.block(out, block)?);
            let groups = (rows * lanes)
                .div_ceil(KERNEL.workgroup[0] as usize)
                .min(self.limits().max_groups as usize);
            for part in 0..weights.n_blocks() {
                let targets = weights.rows_of(part);
                let params = Params {
                    n_rows: rows as u32,
                    n_cols: x.n_cols() as u32,
                    ld: x.ld as u32,
                    n_targets: targets.len() as u32,
                    weights_ld: weights.ld as u32,
                    first_target: targets.start as u32,
                    out_ld: out.ld as u32,
                    lanes: lanes as u32,
                    zero: 0,
                };
                let bindings = Bindings {
                    params,
                    x: array,
                    weights: self.block(weights, part)?,
                    offset,
                    out: to,
                };
                self.dispatch(&bindings, [groups as u32, 1, 1], array.bytes() * targets.len() as u64)?;
            }
        }
        Ok(())
    }
}

impl<T: OnHost> LinearMap for Native<'_, T> {
    fn linear_map(
        &self,
        x: &Self::Matrix,
        weights: &Self::Matrix,
        offset: &Self::Array<f64>,
        out: &mut MatrixViewMut<'_, T>,
    ) -> Result<()> {
        native::linear_map(x.view(), weights.view(), offset, out.values());
        // What is not finite in `x` makes the sums of its row so, whatever the weights; so may sums that overflow.
        let told = out.values().iter().any(|value| !value.finite());
        if told && !x.view().is_finite() {
            Err(Error::NonFinite { what: "X" })
        } else {
            Ok(())
        }
    }
}
