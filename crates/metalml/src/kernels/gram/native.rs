//! Products of centred columns: blocks of rows are centred into a scratch block, whose products are added up in f64.
//!
//! Only the symmetric half is computed. f32 rows are multiplied in f64 where that costs little; else in f32, a hundred
//! at a time, and their products are summed in f64: closer to the truth than one f32 product of all rows. Few columns:
//! each task takes a run of rows. Many columns: sums for each task would not fit, so tasks take tiles of the result.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use std::ops::Range;

use faer::{MatMut, MatRef};

use crate::engine::Real;
use crate::engine::native_product::{multiply, multiply_lower};
use crate::engine::native_rows::{Block, part};
use crate::matrix::MatrixView;
use crate::threads::{for_each_chunk, map_tasks, vectorized};

/// Rows of a block: the length of a sum in the precision of the data. At 512, products of noise were off by more than those of
/// one f32 product by BLAS; at 128 by less, in the same time.
const BLOCK_ROWS: usize = 128;
/// Products up to which f32 rows are multiplied in f64: few rows do not average the rounding of f32 out.
const F64_PRODUCTS: usize = 1 << 24;
/// Rows that are centred at once when a block is shared among threads.
const STRIP_ROWS: usize = 16;
/// Targets up to this many join the symmetric half, at the price of their own products.
const FEW_TARGETS: usize = 16;
/// Bytes of all tasks' sums together.
const SUMS_BYTES: usize = 24 << 20;
/// Tasks over rows, at most; where the memory does not allow `MIN_SPANS`, tasks take tiles.
const MAX_SPANS: usize = 64;
const MIN_SPANS: usize = 8;
/// Side of a tile.
const TILE: usize = 256;

/// `sum_r w_r (x_ri - x_shift_i) (z_rj - z_shift_j)` with `z = [x | y]`: row-major, a row for each column of `x`.
pub(super) fn gram<T: Real>(
    x: MatrixView<'_, T>,
    x_shift: &[T],
    y: MatrixView<'_, T>,
    y_shift: &[T],
    weights: Option<&[T]>,
) -> Vec<f64> {
    let rows = CentredRows {
        x,
        y,
        shift: [x_shift, y_shift].concat(),
        weights,
    };
    let (d, width) = (x.n_cols(), rows.width());
    let symmetric = if y.n_cols() <= FEW_TARGETS { width } else { d };
    let tiles = if x.n_rows().saturating_mul(d * width) <= F64_PRODUCTS {
        sum::<T, f64>(&rows, symmetric)
    } else {
        sum::<T, T>(&rows, symmetric)
    };
    let mut products = vec![0.0; d * width];
    for Tile { rows, cols, sums } in tiles {
        for (i, sums) in rows.zip(sums.chunks_exact(cols.len().max(1))) {
            for (j, &sum) in cols.clone().zip(sums).take_while(|&(j, _)| j <= i || j >= symmetric) {
                if i < d {
                    products[i * width + j] = sum;
                }
                if j < d {
                    products[j * width + i] = sum;
                }
            }
        }
    }
    products
}

/// The products, multiplied as `S`.
fn sum<T: Real, S: Real>(rows: &CentredRows<'_, T>, symmetric: usize) -> Vec<Tile> {
    let spans = SUMS_BYTES / (symmetric * rows.width() * size_of::<f64>()).max(1);
    if spans >= MIN_SPANS {
        let span = rows
            .x
            .n_rows()
            .div_ceil(spans.min(MAX_SPANS))
            .max(1)
            .next_multiple_of(BLOCK_ROWS);
        sum_by_rows::<T, S>(rows, symmetric, span)
    } else {
        sum_by_tiles::<T, S>(rows, symmetric)
    }
}

/// Products of some columns with some others.
struct Tile {
    rows: Range<usize>,
    cols: Range<usize>,
    sums: Vec<f64>,
}

impl Tile {
    fn new(rows: Range<usize>, cols: Range<usize>) -> Self {
        let sums = vec![0.0; rows.len() * cols.len()];
        Self { rows, cols, sums }
    }

    /// The symmetric half, then what is beside it, in tiles of a side.
    fn cover(d: usize, symmetric: usize, width: usize, side: usize) -> Vec<Self> {
        let cut = |range: Range<usize>| range.clone().step_by(side).map(move |at| at..range.end.min(at + side));
        let half = cut(0..symmetric).flat_map(|rows| cut(0..rows.end).map(move |cols| (rows.clone(), cols)));
        let beside = cut(0..d).flat_map(|rows| cut(symmetric..width).map(move |cols| (rows.clone(), cols)));
        half.chain(beside).map(|(rows, cols)| Self::new(rows, cols)).collect()
    }

    /// Adds the products of a block.
    fn add<S: Real>(&mut self, block: &CentredBlock<S>, product: &mut Vec<S>) {
        let (m, n) = (self.rows.len(), self.cols.len());
        let lhs = block.weighted(self.rows.clone());
        let rhs = block.plain(self.cols.clone());
        let multiply = if self.rows == self.cols {
            multiply_lower
        } else {
            multiply
        };
        if size_of::<S>() == size_of::<f64>() {
            let sums = bytemuck::cast_slice_mut(&mut self.sums);
            multiply(MatMut::from_row_major_slice_mut(sums, m, n), lhs.transpose(), rhs, true);
            return;
        }
        product.resize(m * n, S::default());
        multiply(
            MatMut::from_row_major_slice_mut(product, m, n),
            lhs.transpose(),
            rhs,
            false,
        );
        vectorized(
            #[inline(always)]
            || add_to(&mut self.sums, product),
        );
    }
}

#[inline(always)]
fn add_to<T: Real>(sums: &mut [f64], terms: &[T]) {
    for (sum, &term) in sums.iter_mut().zip(terms) {
        *sum += term.into();
    }
}

fn sum_by_rows<T: Real, S: Real>(rows: &CentredRows<'_, T>, symmetric: usize, span: usize) -> Vec<Tile> {
    let (n, d, width) = (rows.x.n_rows(), rows.x.n_cols(), rows.width());
    let spans = map_tasks(n.div_ceil(span), n * d * width / 16, |task| {
        let mut tiles = Tile::cover(d, symmetric, width, symmetric.max(1));
        let (mut block, mut product, mut gathered) = (CentredBlock::<S>::new(rows, BLOCK_ROWS), Vec::new(), Vec::new());
        let span = part(task, span, n);
        for first in span.clone().step_by(BLOCK_ROWS) {
            let part = first..span.end.min(first + BLOCK_ROWS);
            block.n_rows = part.len();
            rows.centre(part, &mut gathered, &mut block.values);
            block.weigh(rows, first);
            for tile in &mut tiles {
                tile.add(&block, &mut product);
            }
        }
        tiles
    });
    let add = |mut all: Vec<Tile>, span: Vec<Tile>| {
        all.iter_mut()
            .zip(span)
            .for_each(|(tile, other)| add_to(&mut tile.sums, &other.sums));
        all
    };
    spans.into_iter().reduce(add).unwrap_or_default()
}

fn sum_by_tiles<T: Real, S: Real>(rows: &CentredRows<'_, T>, symmetric: usize) -> Vec<Tile> {
    let (n, d, width) = (rows.x.n_rows(), rows.x.n_cols(), rows.width());
    let mut tiles = Tile::cover(d, symmetric, width, TILE);
    let mut block = CentredBlock::<S>::new(rows, BLOCK_ROWS);
    for first in (0..n).step_by(BLOCK_ROWS) {
        block.n_rows = BLOCK_ROWS.min(n - first);
        let values = &mut block.values[..block.n_rows * width];
        for_each_chunk(values, STRIP_ROWS * width, block.n_rows * width, |strip, values| {
            let first = first + strip * STRIP_ROWS;
            rows.centre(first..first + values.len() / width, &mut Vec::new(), values);
        });
        block.weigh(rows, first);
        for_each_chunk(&mut tiles, 1, block.n_rows * d * width / 16, |_, tiles| {
            for tile in tiles {
                tile.add(&block, &mut Vec::new());
            }
        });
    }
    tiles
}

/// The rows of `[x | y]` less their shift.
struct CentredRows<'a, T> {
    x: MatrixView<'a, T>,
    y: MatrixView<'a, T>,
    shift: Vec<T>,
    weights: Option<&'a [T]>,
}

impl<T: Real> CentredRows<'_, T> {
    fn width(&self) -> usize {
        self.shift.len()
    }

    /// Some rows, row-major, to `into`.
    fn centre<S: Real>(&self, rows: Range<usize>, gathered: &mut Vec<T>, into: &mut [S]) {
        let mut first = 0;
        for from in [&self.x, &self.y] {
            let cols = first..first + from.n_cols();
            let block = Block::of(from, rows.clone(), 0..from.n_cols(), gathered);
            let shift = &self.shift[cols.clone()];
            vectorized(
                #[inline(always)]
                || subtract(block, shift, into, self.width(), first),
            );
            first = cols.end;
        }
    }
}

#[inline(always)]
fn subtract<T: Real, S: Real>(block: Block<'_, T>, shift: &[T], into: &mut [S], stride: usize, first: usize) {
    if block.width == 0 {
        return;
    }
    for (row, into) in block.values.chunks(block.stride).zip(into.chunks_mut(stride)) {
        for ((into, &value), &shift) in into[first..].iter_mut().zip(&row[..block.width]).zip(shift) {
            *into = S::from_f64(value.into() - shift.into());
        }
    }
}

/// Some rows of `CentredRows`, row-major; and once more times their weights, if they have any.
struct CentredBlock<S> {
    n_rows: usize,
    width: usize,
    values: Vec<S>,
    times_weight: Option<Vec<S>>,
}

impl<S: Real> CentredBlock<S> {
    fn new<T: Real>(rows: &CentredRows<'_, T>, block_rows: usize) -> Self {
        let width = rows.width();
        let values = vec![S::default(); block_rows.min(rows.x.n_rows()) * width];
        Self {
            n_rows: 0,
            width,
            times_weight: rows.weights.map(|_| values.clone()),
            values,
        }
    }

    fn weigh<T: Real>(&mut self, rows: &CentredRows<'_, T>, first: usize) {
        let (Some(weights), Some(into)) = (rows.weights, &mut self.times_weight) else {
            return;
        };
        let rows = into.chunks_mut(self.width).zip(self.values.chunks(self.width));
        for ((into, values), &weight) in rows.zip(&weights[first..first + self.n_rows]) {
            let weight = S::from_f64(weight.into());
            into.iter_mut()
                .zip(values)
                .for_each(|(into, &value)| *into = value * weight);
        }
    }

    fn plain(&self, cols: Range<usize>) -> MatRef<'_, S> {
        self.columns(&self.values, cols)
    }

    fn weighted(&self, cols: Range<usize>) -> MatRef<'_, S> {
        self.columns(self.times_weight.as_ref().unwrap_or(&self.values), cols)
    }

    fn columns<'a>(&self, values: &'a [S], cols: Range<usize>) -> MatRef<'a, S> {
        let values = &values[..self.n_rows * self.width];
        MatRef::from_row_major_slice(values, self.n_rows, self.width).subcols(cols.start, cols.len())
    }
}
