//! The general matrix product, row-major, in all four forms of transposition, with a bias.

mod cases;
mod native;
mod reference;

use std::ops::Range;

use super::Family;
use crate::Result;
use crate::device::Array;
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::matrix::MatrixViewMut;

include!(concat!(env!("OUT_DIR"), "/matmul.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "matmul",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// One side of a product.
#[derive(Debug)]
pub enum Operand<'m, M> {
    /// The matrix as it is.
    Plain(&'m M),
    /// Rows for columns.
    Transposed(&'m M),
}

impl<M> Clone for Operand<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M> Copy for Operand<'_, M> {}

impl<M: Shape> Operand<'_, M> {
    fn shape(&self) -> [usize; 2] {
        match self {
            Self::Plain(matrix) => [matrix.n_rows(), matrix.n_cols()],
            Self::Transposed(matrix) => [matrix.n_cols(), matrix.n_rows()],
        }
    }
}

/// The general matrix product.
pub trait Matmul: Storage {
    /// `out = a b + 1 biasᵀ`: `a` is m by k, `b` k by n, `bias` has n elements.
    fn matmul(
        &self,
        a: Operand<'_, Self::Matrix>,
        b: Operand<'_, Self::Matrix>,
        bias: Option<&Self::Array<Self::Elem>>,
        out: &mut Self::MatrixMut<'_>,
    ) -> Result<()>;
}

/// A block of one side: which rows and columns of the operand it holds, and how to walk it.
struct Part<'m> {
    array: &'m Array<f32>,
    rows: Range<usize>,
    cols: Range<usize>,
    row_stride: usize,
    col_stride: usize,
}

impl Part<'_> {
    fn at(&self, row: usize, col: usize) -> u32 {
        ((row - self.rows.start) * self.row_stride + (col - self.cols.start) * self.col_stride) as u32
    }
}

fn parts<'m, 'a>(gpu: &Gpu<'a>, operand: Operand<'m, GpuMatrix<'a>>) -> Result<Vec<Part<'m>>> {
    let (Operand::Plain(matrix) | Operand::Transposed(matrix)) = operand;
    let part = |block| {
        let (array, along, across) = (gpu.block(matrix, block)?, matrix.rows_of(block), 0..matrix.n_cols());
        Ok(match operand {
            Operand::Plain(_) => Part {
                array,
                rows: along,
                cols: across,
                row_stride: matrix.ld,
                col_stride: 1,
            },
            Operand::Transposed(_) => Part {
                array,
                rows: across,
                cols: along,
                row_stride: 1,
                col_stride: matrix.ld,
            },
        })
    };
    (0..matrix.n_blocks()).map(part).collect()
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.max(b.start)..a.end.min(b.end)
}

impl<'a> Matmul for Gpu<'a> {
    fn matmul(
        &self,
        a: Operand<'_, Self::Matrix>,
        b: Operand<'_, Self::Matrix>,
        bias: Option<&Self::Array<f32>>,
        out: &mut &mut GpuMatrix<'a>,
    ) -> Result<()> {
        let k_len = a.shape()[1];
        let (a_parts, b_parts) = (parts(self, a)?, parts(self, b)?);
        for block in 0..out.n_blocks() {
            let to = self.block(out, block)?;
            for (a, b) in a_parts.iter().flat_map(|a| b_parts.iter().map(move |b| (a, b))) {
                let (rows, k) = (overlap(&out.rows_of(block), &a.rows), overlap(&a.cols, &b.rows));
                if rows.is_empty() || k.is_empty() || b.cols.is_empty() {
                    continue;
                }
                let params = Params {
                    n_rows: rows.len() as u32,
                    n_cols: b.cols.len() as u32,
                    k_len: k.len() as u32,
                    a_start: a.at(rows.start, k.start),
                    a_row_stride: a.row_stride as u32,
                    a_k_stride: a.col_stride as u32,
                    b_start: b.at(k.start, b.cols.start),
                    b_k_stride: b.row_stride as u32,
                    b_col_stride: b.col_stride as u32,
                    out_start: ((rows.start - out.rows_of(block).start) * out.ld + b.cols.start) as u32,
                    out_ld: out.ld as u32,
                    bias_start: b.cols.start as u32,
                    // The bias joins with the last part of k, and only the first part of k starts afresh.
                    has_bias: (bias.is_some() && k.end == k_len).into(),
                    accumulate: (k.start > 0).into(),
                };
                let bindings = Bindings {
                    params,
                    a: a.array,
                    b: b.array,
                    bias: bias.unwrap_or(a.array),
                    out: to,
                };
                let tiles = |len: u32| len.div_ceil(TILE);
                let bytes = 4 * (rows.len() * k.len()) as u64 * (1 + b.cols.len() as u64 / 10);
                self.dispatch(&bindings, [tiles(params.n_cols), tiles(params.n_rows), 1], bytes)?;
            }
        }
        Ok(())
    }
}

/// Rows and columns that a workgroup makes, as in the WGSL.
const TILE: u32 = 64;

impl<T: OnHost> Matmul for Native<'_, T> {
    fn matmul(
        &self,
        a: Operand<'_, Self::Matrix>,
        b: Operand<'_, Self::Matrix>,
        bias: Option<&Self::Array<T>>,
        out: &mut MatrixViewMut<'_, T>,
    ) -> Result<()> {
        let side = |operand| match operand {
            Operand::Plain(matrix) => Self::Matrix::view(matrix),
            Operand::Transposed(matrix) => Self::Matrix::view(matrix).transposed(),
        };
        native::matmul(side(a), side(b), bias.map(|bias| &**bias), out.values());
        Ok(())
    }
}
