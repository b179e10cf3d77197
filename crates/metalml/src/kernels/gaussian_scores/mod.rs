//! How likely each row is under Gaussians whose columns are independent, up to the terms that the caller adds: naive Bayes.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::matrix::MatrixViewMut;
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/gaussian_scores.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "gaussian_scores",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// Gaussians with independent columns, k of d columns each, row-major.
#[derive(Debug)]
pub struct Gaussians<'g> {
    /// Their means.
    pub place: &'g [f64],
    /// What a distance from the mean is multiplied by before it is squared: the root of half the inverse variance.
    pub weight: &'g [f64],
    /// One a Gaussian: what a row at its mean has.
    pub offset: &'g [f64],
}

/// Scores of rows.
pub trait GaussianScores: Storage {
    /// `out[r, c] = offset[c] - Σ_k ((x[r, k] - place[c, k]) weight[c, k])²`, n by k. Rows must be finite, of at least one column; a row that
    /// is not is an error natively (the GPU refuses it at upload). Sums in float32 on the GPU, in f64 natively. Reads `x` once; 4 n k d operations.
    fn gaussian_scores(&self, x: &Self::Matrix, of: &Gaussians<'_>, out: &mut Self::MatrixMut<'_>) -> Result<()>;
}

/// Threads that share a row, at most, and values that one of them takes, about.
const MOST_LANES: usize = 32;
const PER_LANE: usize = 4;

fn checked(n_cols: usize, of: &Gaussians<'_>) -> Result<()> {
    let k = of.offset.len();
    if n_cols == 0 || of.place.len() != k * n_cols || of.weight.len() != k * n_cols {
        return Err(Error::Internal(format!(
            "{k} Gaussians of {n_cols} columns with {} means and {} weights",
            of.place.len(),
            of.weight.len()
        )));
    }
    Ok(())
}

impl<'a> GaussianScores for Gpu<'a> {
    fn gaussian_scores(&self, x: &Self::Matrix, of: &Gaussians<'_>, out: &mut &mut GpuMatrix<'a>) -> Result<()> {
        checked(x.n_cols(), of)?;
        let pairs = |values: &[f64]| values.iter().map(|&value| Self::wide(value)).collect::<Vec<_>>();
        let (place, offset) = (self.upload(&pairs(of.place))?, self.upload(&pairs(of.offset))?);
        let weight = self.upload_elem(of.weight)?;
        let lanes = x.n_cols().div_ceil(PER_LANE).next_power_of_two().min(MOST_LANES);
        for block in 0..x.n_blocks() {
            let rows = x.rows_of(block).len();
            if out.rows_of(block) != x.rows_of(block) {
                return Err(Error::Internal("gaussian_scores: blocks do not match".into()));
            }
            let (array, to) = (self.block(x, block)?, self.block(out, block)?);
            let params = Params {
                n_rows: rows as u32,
                n_cols: x.n_cols() as u32,
                ld: x.ld as u32,
                n_classes: of.offset.len() as u32,
                out_ld: out.ld as u32,
                lanes: lanes as u32,
                zero: 0,
            };
            let bindings = Bindings {
                params,
                x: array,
                place: &place,
                weight: &weight,
                offset: &offset,
                out: to,
            };
            let groups = (rows * lanes)
                .div_ceil(KERNEL.workgroup[0] as usize)
                .min(self.limits().max_groups as usize);
            self.dispatch(&bindings, [groups as u32, 1, 1], array.bytes() * of.offset.len() as u64)?;
        }
        Ok(())
    }
}

impl<T: OnHost> GaussianScores for Native<'_, T> {
    fn gaussian_scores(&self, x: &Self::Matrix, of: &Gaussians<'_>, out: &mut MatrixViewMut<'_, T>) -> Result<()> {
        checked(x.view().n_cols(), of)?;
        native::gaussian_scores(x.view(), of, out.values());
        // What is not finite in `x` makes the scores of its row so, but for columns of weight 0.
        let told = of.weight.contains(&0.0) || out.values().iter().any(|value| !value.finite());
        if told && !x.view().is_finite() {
            Err(Error::NonFinite { what: "X" })
        } else {
            Ok(())
        }
    }
}
