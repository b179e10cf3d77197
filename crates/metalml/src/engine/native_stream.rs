//! Products with few columns of `b`: a stream of `a`, in f64.
//!
//! Where rows of `a` lie in order each is multiplied with the columns of `b`; where its columns do (a transpose), each
//! column is added times its weight. Other layouts are gathered into rows, a block at a time.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use std::ops::Range;

use super::Real;
use super::native_rows::{Block, in_rows};
use crate::matrix::MatrixView;
use crate::threads::vectorized;

/// Columns of `b` up to which this is the faster way.
pub(crate) const MAX_COLS: usize = 4;
/// Inner dimension of a block.
const BLOCK: usize = 1024;
/// Rows of a block: their sums stay in the first cache.
const BLOCK_ROWS: usize = 512;
/// Sums of a dot product that run side by side.
const LANES: usize = 8;

/// What is multiplied: `a` is m by k, `b` k by n.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a, T> {
    pub(crate) a: MatrixView<'a, T>,
    pub(crate) b: MatrixView<'a, T>,
}

/// Adds the products of some rows of `a`, over part of the inner dimension, to `sums` (row-major).
pub(crate) fn add_to<T: Real>(product: &Product<'_, T>, rows: Range<usize>, inner: Range<usize>, sums: &mut [f64]) {
    match product.b.n_cols() {
        1 => add_columns::<T, 1>(product, rows, inner, sums),
        2 => add_columns::<T, 2>(product, rows, inner, sums),
        3 => add_columns::<T, 3>(product, rows, inner, sums),
        _ => add_columns::<T, MAX_COLS>(product, rows, inner, sums),
    }
}

fn add_columns<T: Real, const N: usize>(
    product: &Product<'_, T>,
    rows: Range<usize>,
    inner: Range<usize>,
    sums: &mut [f64],
) {
    let (mut scratch, mut factors) = (Vec::new(), Vec::new());
    for first in rows.clone().step_by(BLOCK_ROWS) {
        let block_rows = first..rows.end.min(first + BLOCK_ROWS);
        let sums = &mut sums[(first - rows.start) * N..(block_rows.end - rows.start) * N];
        for first in inner.clone().step_by(BLOCK) {
            let inner = first..inner.end.min(first + BLOCK);
            Factors::<N>::fill(&mut factors, product, inner.clone());
            let factors = Factors::<N> {
                values: &factors,
                len: inner.len(),
            };
            let columns = product.a.transposed();
            if product.a.col_stride() != 1
                && let Some((values, stride)) = in_rows(&columns, inner.clone(), block_rows.clone())
            {
                let block = Block {
                    values,
                    stride,
                    width: block_rows.len(),
                };
                vectorized(
                    #[inline(always)]
                    || add_scaled_columns(block, factors, sums),
                );
            } else {
                let block = Block::of(&product.a, block_rows.clone(), inner, &mut scratch);
                vectorized(
                    #[inline(always)]
                    || add_dot_products(block, factors, sums),
                );
            }
        }
    }
}

/// The columns of `b` over part of the inner dimension, each a run of `len`.
#[derive(Clone, Copy)]
struct Factors<'a, const N: usize> {
    values: &'a [f64],
    len: usize,
}

impl<'a, const N: usize> Factors<'a, N> {
    fn fill<T: Real>(values: &mut Vec<f64>, product: &Product<'_, T>, inner: Range<usize>) {
        values.clear();
        let b: MatrixView<'_, T> = product.b;
        values.extend((0..N).flat_map(|j| inner.clone().map(move |l| b.get(l, j).into())));
    }

    #[inline(always)]
    fn column(&self, j: usize) -> &'a [f64] {
        &self.values[j * self.len..][..self.len]
    }
}

#[inline(always)]
fn add_dot_products<T: Real, const N: usize>(block: Block<'_, T>, factors: Factors<'_, N>, sums: &mut [f64]) {
    let columns: [&[f64]; N] = std::array::from_fn(|j| factors.column(j));
    let whole = block.width - block.width % LANES;
    for (row, sums) in block.values.chunks(block.stride).zip(sums.chunks_exact_mut(N)) {
        let row = &row[..block.width];
        let mut lanes = [[0.0; LANES]; N];
        for at in (0..whole).step_by(LANES) {
            let row = &row[at..at + LANES];
            let values: [f64; LANES] = std::array::from_fn(|lane| row[lane].into());
            for j in 0..N {
                let column = &columns[j][at..at + LANES];
                for lane in 0..LANES {
                    lanes[j][lane] += values[lane] * column[lane];
                }
            }
        }
        for j in 0..N {
            let [a, b, c, d, e, f, g, h] = lanes[j];
            let mut sum = ((a + e) + (c + g)) + ((b + f) + (d + h));
            for at in whole..block.width {
                sum += row[at].into() * columns[j][at];
            }
            sums[j] += sum;
        }
    }
}

/// `block` holds columns of `a` as its rows.
#[inline(always)]
fn add_scaled_columns<T: Real, const N: usize>(block: Block<'_, T>, factors: Factors<'_, N>, sums: &mut [f64]) {
    let mut totals = [[0.0; BLOCK_ROWS]; N];
    let width = block.width;
    let column = |l: usize| &block.values[l * block.stride..][..width];
    let fours = factors.len - factors.len % 4;
    for l in (0..fours).step_by(4) {
        let [a, b, c, d] = [column(l), column(l + 1), column(l + 2), column(l + 3)];
        for j in 0..N {
            let (factor, totals) = (&factors.column(j)[l..l + 4], &mut totals[j][..width]);
            for i in 0..width {
                let first = a[i].into() * factor[0] + b[i].into() * factor[1];
                let second = c[i].into() * factor[2] + d[i].into() * factor[3];
                totals[i] += first + second;
            }
        }
    }
    for l in fours..factors.len {
        let column = column(l);
        for (j, totals) in totals.iter_mut().enumerate() {
            let factor = factors.column(j)[l];
            for (total, &value) in totals.iter_mut().zip(column) {
                *total += value.into() * factor;
            }
        }
    }
    for (i, sums) in sums.chunks_exact_mut(N).enumerate() {
        for j in 0..N {
            sums[j] += totals[j][i];
        }
    }
}
