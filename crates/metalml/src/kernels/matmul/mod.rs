//! The general matrix product, row-major, in all four forms of transposition, with a bias.

mod cases;
mod native;
mod reference;

use std::ops::Range;

use super::Family;
use crate::Result;
use crate::device::{Array, Kernel};
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::matrix::MatrixViewMut;

include!(concat!(env!("OUT_DIR"), "/matmul.rs"));

/// The tiled products that `build.rs` makes.
pub(crate) mod tiled {
    include!(concat!(env!("OUT_DIR"), "/matmul_tiled.rs"));
}

const ALL: [Kernel; 9] = {
    let mut all = [KERNEL; 9];
    let mut at = 0;
    while at < 8 {
        all[at + 1] = tiled::TILED[at / 4][at % 4];
        at += 1;
    }
    all
};

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "matmul",
    kernels: &ALL,
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
                let first = k.start == 0;
                let piece = Piece {
                    a,
                    b,
                    k: k.clone(),
                    to,
                    out_start: (rows.start - out.rows_of(block).start) * out.ld + b.cols.start,
                    out_ld: out.ld,
                    // The bias joins with the last part of k, and only the first part of k starts afresh.
                    bias: bias.filter(|_| k.end == k_len),
                    accumulate: !first,
                    rows,
                };
                self.product(&piece)?;
            }
        }
        Ok(())
    }
}

/// One product of a part of `a` and a part of `b`.
struct Piece<'p, 'm> {
    a: &'p Part<'m>,
    b: &'p Part<'m>,
    /// Rows of the result, and the range of the sum.
    rows: Range<usize>,
    k: Range<usize>,
    to: &'p Array<f32>,
    out_start: usize,
    out_ld: usize,
    bias: Option<&'p Array<f32>>,
    accumulate: bool,
}

/// Rows and columns that a workgroup makes, as in the WGSL.
const TILE: u32 = 64;
/// Sides below which a tile of the tiled kernels would be mostly empty.
const LEAST_SIDE: usize = 24;
/// Tiles of the largest kind that keep a device busy; with fewer, smaller ones are made.
const ENOUGH_TILES: usize = 64;

impl Gpu<'_> {
    fn product(&self, piece: &Piece<'_, '_>) -> Result<()> {
        let Piece { a, b, rows, k, .. } = piece;
        let (n_rows, n_cols) = (rows.len(), b.cols.len());
        let bytes = 4 * (n_rows * k.len()) as u64 * (1 + n_cols as u64 / 10);
        let (a_start, b_start) = (a.at(rows.start, k.start), b.at(k.start, b.cols.start));
        let (a_along_k, b_along_k) = (a.col_stride == 1, b.row_stride == 1);
        let a_ld = if a_along_k { a.row_stride } else { a.col_stride } as u32;
        let b_ld = if b_along_k { b.col_stride } else { b.row_stride } as u32;
        let (out_start, out_ld) = (piece.out_start as u32, piece.out_ld as u32);
        let by_four = [a_start, a_ld, b_start, b_ld, out_start, out_ld]
            .iter()
            .all(|len| len.is_multiple_of(4));
        if by_four && n_rows.min(n_cols) >= LEAST_SIDE && k.len() >= 4 {
            let tiles = |side: [u32; 2]| n_rows.div_ceil(side[0] as usize) * n_cols.div_ceil(side[1] as usize);
            let tile = usize::from(tiles(tiled::SIDES[0]) < ENOUGH_TILES);
            let [tile_rows, tile_cols] = tiled::SIDES[tile];
            let form = 2 * usize::from(!a_along_k) + usize::from(b_along_k);
            let params = tiled::Params {
                n_rows: n_rows as u32,
                n_cols: n_cols as u32,
                k_len: k.len() as u32,
                a_start: a_start / 4,
                a_ld: a_ld / 4,
                b_start: b_start / 4,
                b_ld: b_ld / 4,
                out_start: out_start / 4,
                out_ld: out_ld / 4,
                bias_start: b.cols.start as u32,
                has_bias: piece.bias.is_some().into(),
                alpha: 1.0,
                beta: if piece.accumulate { 1.0 } else { 0.0 },
            };
            let bindings = tiled::Bindings {
                params,
                a: a.array,
                b: b.array,
                bias: piece.bias.unwrap_or(a.array),
                out: piece.to,
            };
            let groups = [params.n_cols.div_ceil(tile_cols), params.n_rows.div_ceil(tile_rows), 1];
            return self.dispatch_variant(&tiled::TILED[tile][form], &bindings, groups, bytes);
        }
        let params = Params {
            n_rows: n_rows as u32,
            n_cols: n_cols as u32,
            k_len: k.len() as u32,
            a_start,
            a_row_stride: a.row_stride as u32,
            a_k_stride: a.col_stride as u32,
            b_start,
            b_k_stride: b.row_stride as u32,
            b_col_stride: b.col_stride as u32,
            out_start,
            out_ld,
            bias_start: b.cols.start as u32,
            has_bias: piece.bias.is_some().into(),
            accumulate: piece.accumulate.into(),
        };
        let bindings = Bindings {
            params,
            a: a.array,
            b: b.array,
            bias: piece.bias.unwrap_or(a.array),
            out: piece.to,
        };
        let tiles = |len: u32| len.div_ceil(TILE);
        self.dispatch(&bindings, [tiles(params.n_cols), tiles(params.n_rows), 1], bytes)
    }
}

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
