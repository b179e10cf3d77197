//! For each row of one matrix the nearest row of another: the assignment of `KMeans`, without the matrix of distances.

mod cases;
mod native;
mod reference;

use super::{Family, nearest_exact, nearest_few, nearest_norms};
use crate::device::Array;
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/nearest.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "nearest",
    kernels: &[
        KERNEL,
        nearest_norms::KERNEL,
        nearest_exact::KERNEL,
        nearest_few::KERNEL,
    ],
    cases: cases::cases,
};

/// What is nearest to each row.
#[derive(Debug)]
pub struct Found<E: Storage> {
    /// The index of the nearest centre; of equal ones, the lowest.
    pub labels: E::Array<u32>,
    /// The squared Euclidean distance to it.
    pub distances: E::Array<E::Elem>,
}

/// Nearest rows.
pub trait Nearest: Storage {
    /// The nearest of the k rows of `centres` to each of the n rows of `x`, both d wide; k and d are at
    /// least 1. Values must be finite, and squares of their distances in the range of the element type.
    ///
    /// `shift`, of d values, is a point near the centres, such as their mean: the nearer, the fewer rows are looked at twice; answers do not
    /// depend on it. Costs 2 n k d operations. Estimates by `|c|² - 2 x·c` as in Lloyd's algorithm (1982, "Least squares quantization in
    /// PCM"); wherever rounding leaves a doubt, and for all distances, sums of squared differences.
    fn nearest(&self, x: &Self::Matrix, centres: &Self::Matrix, shift: &[f64]) -> Result<Found<Self>>;
}

/// Estimates of the nearest centres: the best with its value, and that of the second best.
pub(super) struct Estimates<'s> {
    pub(super) shift: &'s Array<f32>,
    pub(super) candidates: Array<u32>,
    pub(super) least: Array<crate::device::Pair>,
}

/// Rows that a workgroup makes.
const TILE: usize = 128;
/// Products for which a submission counts on the time of a byte.
const PRODUCTS_PER_BYTE: u64 = 8;

fn checked(n_cols: [usize; 3], n_centres: usize) -> Result<()> {
    if n_centres == 0 || n_cols[0] == 0 || n_cols[1] != n_cols[0] || n_cols[2] != n_cols[0] {
        return Err(Error::Internal(format!(
            "nearest of {n_centres} centres, with {n_cols:?} columns"
        )));
    }
    Ok(())
}

impl Nearest for Gpu<'_> {
    fn nearest(&self, x: &Self::Matrix, centres: &Self::Matrix, shift: &[f64]) -> Result<Found<Self>> {
        checked([x.n_cols(), centres.n_cols(), shift.len()], centres.n_rows())?;
        let (labels, distances) = (self.alloc(x.n_rows())?, self.alloc(x.n_rows())?);
        if nearest_few::suits(centres) {
            nearest_few::record(self, [x, centres], &labels, &distances)?;
        } else {
            let shift = self.upload_elem(shift)?;
            let estimates = estimate(self, [x, centres], &shift)?;
            nearest_exact::record(self, [x, centres], &estimates, &labels, &distances)?;
        }
        Ok(Found { labels, distances })
    }
}

fn estimate<'a, 's>(gpu: &Gpu<'a>, [x, y]: [&GpuMatrix<'a>; 2], shift: &'s Array<f32>) -> Result<Estimates<'s>> {
    let norms = nearest_norms::record(gpu, y, shift)?;
    let estimates = Estimates {
        shift,
        candidates: gpu.alloc(x.n_rows())?,
        least: gpu.alloc(x.n_rows())?,
    };
    for (x_block, y_block) in (0..x.n_blocks()).flat_map(|at| (0..y.n_blocks()).map(move |of| (at, of))) {
        let (array, centres) = (gpu.block(x, x_block)?, gpu.block(y, y_block)?);
        let (rows, y_rows) = (x.rows_of(x_block), y.rows_of(y_block));
        let row_cost = (4 * x.ld) as u64 + (x.n_cols() * y_rows.len()) as u64 / PRODUCTS_PER_BYTE;
        for piece in gpu.row_pieces(&KERNEL, rows.len(), TILE, row_cost, usize::MAX) {
            let params = Params {
                n_rows: piece.len() as u32,
                n_cols: x.n_cols() as u32,
                x_ld: x.ld as u32,
                y_ld: y.ld as u32,
                x_start: piece.start as u32,
                y_start: 0,
                first_row: (rows.start + piece.start) as u32,
                n_refs: y_rows.len() as u32,
                first_centre: y_rows.start as u32,
            };
            let bindings = Bindings {
                params,
                x: array,
                y: centres,
                shift,
                norms: &norms,
                candidates: &estimates.candidates,
                least: &estimates.least,
            };
            let groups = [piece.len().div_ceil(TILE) as u32, 1, 1];
            gpu.dispatch(&bindings, groups, row_cost * piece.len() as u64)?;
        }
    }
    Ok(estimates)
}

impl<T: OnHost> Nearest for Native<'_, T> {
    fn nearest(&self, x: &Self::Matrix, centres: &Self::Matrix, shift: &[f64]) -> Result<Found<Self>> {
        checked([x.n_cols(), centres.n_cols(), shift.len()], centres.view().n_rows())?;
        let (labels, distances) = native::nearest(x.view(), centres.view(), shift);
        Ok(Found {
            labels: labels.into(),
            distances: distances.into(),
        })
    }
}
