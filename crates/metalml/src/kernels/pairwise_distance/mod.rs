//! The distance of each row of one matrix to each row of another.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::engine::{Gpu, GpuMatrix, Metric, Native, OnHost, Shape, Storage};
use crate::matrix::MatrixViewMut;
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/pairwise_distance.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "pairwise_distance",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// Distances of all pairs.
pub trait PairwiseDistance: Storage {
    /// `out[i, j]` = the distance of row i of `x` and row j of `y`: `x` is n by d, `y` m by d, `out` n by m, d at least 1.
    ///
    /// Costs 2 n m d operations of two kinds. Summed directly, never from products: so an offset of the data costs nothing, and a row
    /// is 0 from itself.
    fn pairwise_distance(
        &self,
        x: &Self::Matrix,
        y: &Self::Matrix,
        metric: Metric,
        out: &mut Self::MatrixMut<'_>,
    ) -> Result<()>;
}

/// Rows and columns that a workgroup makes.
const TILE: usize = 128;
/// Elements of sums for which a submission counts on the time of a byte.
const ELEMENTS_PER_BYTE: u64 = 8;

fn checked(x: &impl Shape, y: &impl Shape) -> Result<()> {
    if x.n_cols() == 0 || x.n_cols() != y.n_cols() {
        let found = [x.n_cols(), y.n_cols()];
        return Err(Error::Internal(format!("distances of rows of {found:?} columns")));
    }
    Ok(())
}

impl<'a> PairwiseDistance for Gpu<'a> {
    fn pairwise_distance(
        &self,
        x: &GpuMatrix<'a>,
        y: &GpuMatrix<'a>,
        metric: Metric,
        out: &mut &mut GpuMatrix<'a>,
    ) -> Result<()> {
        checked(x, y)?;
        for out_block in 0..out.n_blocks() {
            let (to, out_rows) = (self.block(out, out_block)?, out.rows_of(out_block));
            for (x_block, y_block) in (0..x.n_blocks()).flat_map(|at| (0..y.n_blocks()).map(move |of| (at, of))) {
                let (x_rows, y_rows) = (x.rows_of(x_block), y.rows_of(y_block));
                let rows = x_rows.start.max(out_rows.start)..x_rows.end.min(out_rows.end);
                if rows.is_empty() {
                    continue;
                }
                let (array, refs) = (self.block(x, x_block)?, self.block(y, y_block)?);
                let elements = metric.operations() / 2 * (x.n_cols() * y_rows.len()) as u64;
                let row_cost = 4 * (x.ld + y_rows.len()) as u64 + elements / ELEMENTS_PER_BYTE;
                for piece in self.row_pieces(&KERNEL, rows.len(), TILE, row_cost, usize::MAX) {
                    let first = rows.start + piece.start;
                    let params = Params {
                        n_rows: piece.len() as u32,
                        n_refs: y_rows.len() as u32,
                        n_cols: x.n_cols() as u32,
                        x_ld: x.ld as u32,
                        y_ld: y.ld as u32,
                        x_start: (first - x_rows.start) as u32,
                        y_start: 0,
                        metric: metric.number(),
                        power: metric.power() as f32,
                        out_start: ((first - out_rows.start) * out.ld + y_rows.start) as u32,
                        out_ld: out.ld as u32,
                    };
                    let bindings = Bindings {
                        params,
                        x: array,
                        y: refs,
                        out: to,
                    };
                    let groups = [y_rows.len().div_ceil(TILE), piece.len().div_ceil(TILE), 1];
                    self.dispatch(
                        &bindings,
                        groups.map(|count| count as u32),
                        row_cost * piece.len() as u64,
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl<T: OnHost> PairwiseDistance for Native<'_, T> {
    fn pairwise_distance(
        &self,
        x: &Self::Matrix,
        y: &Self::Matrix,
        metric: Metric,
        out: &mut MatrixViewMut<'_, T>,
    ) -> Result<()> {
        checked(x, y)?;
        native::pairwise_distance(x.view(), y.view(), metric, out.values());
        Ok(())
    }
}
