//! `a b + bias`: tiles of the result, each on one thread; transposes are strides.
//!
//! Few columns in `b` (a prediction, a gradient) make the product a stream of `a`, with loops of its own, in f64
//! (`stream`). Otherwise blocks multiply in the precision of the data; f32 sums longer than a block add up in f64. A long
//! sum into a small result is cut in runs, which are added in order.

use std::ops::Range;

use faer::prelude::ReborrowMut as _;
use faer::{MatMut, MatRef};

use super::terms::HostTerms;
use crate::engine::Real;
use crate::engine::native_product::multiply;
use crate::engine::native_rows::{gather, in_rows, part};
use crate::engine::native_stream::{self as stream, Product};
use crate::matrix::MatrixView;
use crate::threads::{for_each_chunk, map_tasks, vectorized};

/// Rows of a tile of the result, and bytes of one of them, at most: a core does two and a half times what it does on rows of 1000 values.
const TILE_ROWS: usize = 384;
const TILE_ROW_BYTES: usize = 1536;
/// Rows of a tile, at least, where there would be fewer than `ENOUGH_TASKS`.
const FEW_TASK_ROWS: usize = 48;
const ENOUGH_TASKS: usize = 16;
const STREAM_TASK_ROWS: usize = 512;
/// Rows that a task finishes.
const FINISH_ROWS: usize = 64;
/// Elements of the result that a task makes, about: bounds its scratch memory.
const TASK_RESULT: usize = 1 << 17;
/// Length of an f32 sum before it is added up in f64, which at 256 took a sixth of the time, and of the part of a sum that is gathered at once.
const BLOCK_SUM: usize = 1024;
/// Length of a run of the inner dimension, and how many there may be.
const RUN: usize = 4096;
const MAX_RUNS: usize = 16;

/// Writes `epilogue(alpha row a b + beta out + 1 bias^T)`, row-major, to `out`.
pub(super) fn matmul<T: Real>(a: MatrixView<'_, T>, b: MatrixView<'_, T>, terms: &HostTerms<'_, T>, out: &mut [T]) {
    let (m, n) = (a.n_rows(), b.n_cols());
    if m == 0 || n == 0 {
        return;
    }
    if terms.plain() {
        return product(a, b, terms.bias, out);
    }
    let before = (terms.beta != 0.0).then(|| out.to_vec());
    product(a, b, None, out);
    for_each_chunk(out, FINISH_ROWS * n, 8 * m * n, |task, out| {
        let first = task * FINISH_ROWS;
        let before = before.as_ref().map(|before| &before[first * n..][..out.len()]);
        terms.finish(first, n, before, out);
    });
}

/// Writes `a b + 1 bias^T`.
fn product<T: Real>(a: MatrixView<'_, T>, b: MatrixView<'_, T>, bias: Option<&[T]>, out: &mut [T]) {
    let (m, k, n) = (a.n_rows(), a.n_cols(), b.n_cols());
    let both = Product { a, b };
    let streams = n <= stream::MAX_COLS;
    let work = m * k + k * n + m * k * n / 16;
    let runs = if m * n <= TASK_RESULT {
        (k / RUN).clamp(1, MAX_RUNS)
    } else {
        1
    };
    if runs > 1 {
        let run = k.div_ceil(runs);
        let parts = map_tasks(runs, work, |at| {
            let mut sums = vec![0.0; m * n];
            both.add_to(part(at, run, k), &mut sums);
            sums
        });
        let mut sums = vec![0.0; m * n];
        for part in &parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        write(&sums, bias, out);
        return;
    }
    if !streams {
        let half = bias.is_none() && b.transposed().is_same_as(&a);
        tiles(&both, bias, half, out, if half { work / 2 } else { work });
        return;
    }
    for_each_chunk(out, STREAM_TASK_ROWS * n, work, |task, out| {
        let mut sums = vec![0.0; out.len()];
        stream::add_to(&both, part(task, STREAM_TASK_ROWS, m), 0..k, &mut sums);
        write(&sums, bias, out);
    });
}

/// The same where there are many columns: nearly square tiles of the result, of which only those on and below the diagonal are computed if
/// the result is `symmetric`.
fn tiles<T: Real>(both: &Product<'_, T>, bias: Option<&[T]>, symmetric: bool, out: &mut [T], work: usize) {
    let (m, n) = (both.a.n_rows(), both.b.n_cols());
    let col_parts = n.div_ceil(TILE_ROW_BYTES / size_of::<T>());
    let few = (m / FEW_TASK_ROWS).min(ENOUGH_TASKS.div_ceil(col_parts));
    let tile_cols = n.div_ceil(col_parts);
    let tile_rows = m.div_ceil(m.div_ceil(TILE_ROWS).max(few));
    let mut tiles = Vec::new();
    for (band, out) in out.chunks_mut(tile_rows * n).enumerate() {
        let row = band * tile_rows;
        let mut rest = MatMut::from_row_major_slice_mut(out, part(band, tile_rows, m).len(), n);
        for col in (0..n).step_by(tile_cols) {
            let (tile, right) = rest.split_at_col_mut(tile_cols.min(n - col));
            rest = right;
            if !symmetric || col < row + tile.nrows() {
                tiles.push((row, col, tile));
            }
        }
    }
    for_each_chunk(&mut tiles, 1, work, |_, tile| {
        for (row, col, tile) in tile {
            let (rows, cols) = (*row..*row + tile.nrows(), *col..*col + tile.ncols());
            both.write_tile(rows, cols.clone(), bias.map(|bias| &bias[cols]), tile.rb_mut());
        }
    });
    if symmetric {
        for row in 1..m {
            for col in 0..row {
                out[col * m + row] = out[row * m + col];
            }
        }
    }
}

fn write<T: Real>(sums: &[f64], bias: Option<&[T]>, out: &mut [T]) {
    let Some(bias) = bias else {
        sums.iter().zip(out).for_each(|(&sum, out)| *out = T::from_f64(sum));
        return;
    };
    for (sums, out) in sums.chunks_exact(bias.len()).zip(out.chunks_exact_mut(bias.len())) {
        sums.iter()
            .zip(bias)
            .zip(out)
            .for_each(|((&sum, &bias), out)| *out = T::from_f64(sum + bias.into()));
    }
}

impl<T: Real> Product<'_, T> {
    /// Adds the products of all of `a` and `b`, over part of the inner dimension, to `sums` (row-major).
    fn add_to(&self, inner: Range<usize>, sums: &mut [f64]) {
        let (m, n) = (self.a.n_rows(), self.b.n_cols());
        if n <= stream::MAX_COLS {
            stream::add_to(self, 0..m, inner, sums);
            return;
        }
        self.add_tile(0..m, 0..n, inner, sums);
    }

    /// Adds the products of some rows of `a` and columns of `b` to `sums` (row-major), in blocks of the precision of the data.
    fn add_tile(&self, rows: Range<usize>, cols: Range<usize>, inner: Range<usize>, sums: &mut [f64]) {
        let mut block = vec![T::default(); sums.len()];
        for first in inner.clone().step_by(BLOCK_SUM) {
            let into = MatMut::from_row_major_slice_mut(&mut block, rows.len(), cols.len());
            self.multiply_tile(
                rows.clone(),
                cols.clone(),
                first..inner.end.min(first + BLOCK_SUM),
                into,
            );
            vectorized(
                #[inline(always)]
                || sums.iter_mut().zip(&block).for_each(|(sum, &term)| *sum += term.into()),
            );
        }
    }

    /// Writes a tile of the result.
    fn write_tile(&self, rows: Range<usize>, cols: Range<usize>, bias: Option<&[T]>, mut tile: MatMut<'_, T>) {
        let k = self.b.n_rows();
        if k <= BLOCK_SUM || size_of::<T>() == size_of::<f64>() {
            self.multiply_tile(rows, cols, 0..k, tile.rb_mut());
            if let Some(bias) = bias {
                for row in tile.row_iter_mut() {
                    row.iter_mut().zip(bias).for_each(|(value, &bias)| *value += bias);
                }
            }
            return;
        }
        let n_cols = cols.len();
        let mut sums = vec![0.0; rows.len() * n_cols];
        self.add_tile(rows, cols, 0..k, &mut sums);
        for (sums, row) in sums.chunks_exact(n_cols).zip(tile.row_iter_mut()) {
            row.iter_mut().zip(sums).enumerate().for_each(|(col, (value, &sum))| {
                *value = T::from_f64(sum + bias.map_or(0.0, |bias| bias[col].into()));
            });
        }
    }

    /// Writes the product of some rows of `a` and columns of `b`, over part of the inner dimension, summed in the precision of the data.
    fn multiply_tile(&self, rows: Range<usize>, cols: Range<usize>, inner: Range<usize>, mut into: MatMut<'_, T>) {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        if inner.is_empty() {
            into.fill(T::default());
        }
        let gathers = !(lies(&self.a) && lies(&self.b));
        let block_sum = if gathers { BLOCK_SUM } else { inner.len().max(1) };
        for first in inner.clone().step_by(block_sum) {
            let inner_part = first..inner.end.min(first + block_sum);
            let lhs = operand(&self.a, rows.clone(), inner_part.clone(), &mut a);
            let rhs = operand(&self.b, inner_part, cols.clone(), &mut b);
            multiply(into.rb_mut(), lhs, rhs, first > inner.start);
        }
    }
}

/// Whether the product takes parts of the matrix without a copy.
fn lies<T: Real>(from: &MatrixView<'_, T>) -> bool {
    as_it_lies(from, 0..from.n_rows(), 0..from.n_cols()).is_some()
}

fn as_it_lies<'a, T: Real>(from: &MatrixView<'a, T>, rows: Range<usize>, cols: Range<usize>) -> Option<MatRef<'a, T>> {
    let (m, n) = (rows.len(), cols.len());
    if let Some((values, stride)) = in_rows(from, rows.clone(), cols.clone()) {
        return Some(MatRef::from_row_major_slice_with_stride(values, m, n, stride));
    }
    let (values, stride) = in_rows(&from.transposed(), cols, rows)?;
    Some(MatRef::from_column_major_slice_with_stride(values, m, n, stride))
}

/// A part of a matrix as the product takes it: as it lies if it may, else gathered.
fn operand<'s, T: Real>(
    from: &MatrixView<'s, T>,
    rows: Range<usize>,
    cols: Range<usize>,
    scratch: &'s mut Vec<T>,
) -> MatRef<'s, T> {
    let (m, n) = (rows.len(), cols.len());
    if let Some(part) = as_it_lies(from, rows.clone(), cols.clone()) {
        return part;
    }
    scratch.resize(m * n, T::default());
    gather(from, rows, cols, scratch);
    MatRef::from_row_major_slice(scratch, m, n)
}
