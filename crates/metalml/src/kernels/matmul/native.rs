//! `(a - shift) b + bias`: tiles of the result, each the sum of products of blocks; transposes are strides.
//!
//! f32 blocks multiply in f32 and add up in f64. Few columns in `b` (a prediction, a gradient) make the product a stream
//! of `a`, which has its own loops, all in f64. A long sum into a small result is cut in runs that are added in order.

use std::ops::Range;

use faer::{MatMut, MatRef};

use crate::engine::Real;
use crate::engine::native_product::multiply;
use crate::engine::native_rows::{for_each_chunk, gather, in_rows, map_tasks, part};
use crate::matrix::MatrixView;

/// Columns of `b` up to which the product is a stream of `a`.
const FEW_COLS: usize = 8;
/// Sides of a tile of the result, and the length of a sum in the precision of the data.
const TILE_ROWS: usize = 128;
const TILE_COLS: usize = 256;
const TILE_SUM: usize = 256;
/// Length of a run of the inner dimension, and how many there may be.
const RUN: usize = 4096;
const MAX_RUNS: usize = 16;
/// Elements of the result up to which its sums are cut in runs.
const SMALL_RESULT: usize = 4 * TILE_ROWS * TILE_COLS;

/// Writes `(a - 1 a_shift^T) b + 1 bias^T`, row-major, to `out`.
pub fn matmul<T: Real>(
    a: MatrixView<'_, T>,
    a_shift: Option<&[T]>,
    b: MatrixView<'_, T>,
    bias: Option<&[T]>,
    out: &mut [T],
) {
    let (m, k, n) = (a.n_rows(), a.n_cols(), b.n_cols());
    if m == 0 || n == 0 {
        return;
    }
    let product = Product { a, a_shift, b };
    let runs = if m * n <= SMALL_RESULT { (k / RUN).clamp(1, MAX_RUNS) } else { 1 };
    if runs > 1 {
        let run = k.div_ceil(runs);
        let parts = map_tasks(runs, m * k + k * n, |at| {
            let mut sums = vec![0.0; m * n];
            product.add_tiles(0..m, part(at, run, k), &mut sums);
            sums
        });
        let mut sums = vec![0.0; m * n];
        parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        write(&sums, bias, n, out);
        return;
    }
    let tile_rows = TILE_ROWS.min((SMALL_RESULT / n).max(8));
    for_each_chunk(out, tile_rows * n, m * k + m * n, |tile, out| {
        let mut sums = vec![0.0; out.len()];
        product.add_tiles(part(tile, tile_rows, m), 0..k, &mut sums);
        write(&sums, bias, n, out);
    });
}

fn write<T: Real>(sums: &[f64], bias: Option<&[T]>, n: usize, out: &mut [T]) {
    for (sums, out) in sums.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        match bias {
            Some(bias) => {
                sums.iter().zip(bias).zip(out).for_each(|((&sum, &bias), out)| *out = T::from_f64(sum + bias.into()))
            }
            None => sums.iter().zip(out).for_each(|(&sum, out)| *out = T::from_f64(sum)),
        }
    }
}

struct Product<'a, T> {
    a: MatrixView<'a, T>,
    a_shift: Option<&'a [T]>,
    b: MatrixView<'a, T>,
}

impl<T: Real> Product<'_, T> {
    /// Adds the products of some rows of `a`, over part of the inner dimension, to `sums` (row-major).
    fn add_tiles(&self, rows: Range<usize>, inner: Range<usize>, sums: &mut [f64]) {
        let n = self.b.n_cols();
        let mut scratch = TileScratch::default();
        for row in rows.clone().step_by(TILE_ROWS) {
            let tile_rows = row..rows.end.min(row + TILE_ROWS);
            let sums = &mut sums[(row - rows.start) * n..(tile_rows.end - rows.start) * n];
            for first in inner.clone().step_by(TILE_SUM) {
                let tile_inner = first..inner.end.min(first + TILE_SUM);
                for cols in (0..n).step_by(TILE_COLS) {
                    let cols = cols..n.min(cols + TILE_COLS);
                    self.add_tile(tile_rows.clone(), tile_inner.clone(), cols, sums, &mut scratch);
                }
            }
        }
    }

    fn add_tile(
        &self,
        rows: Range<usize>,
        inner: Range<usize>,
        cols: Range<usize>,
        sums: &mut [f64],
        scratch: &mut TileScratch<T>,
    ) {
        let TileScratch { a, b, product } = scratch;
        let shift = self.a_shift.map(|shift| &shift[inner.clone()]);
        let lhs = operand(&self.a, rows.clone(), inner.clone(), shift, a);
        let rhs = operand(&self.b, inner, cols.clone(), None, b);
        product.resize(rows.len() * cols.len(), T::default());
        multiply(MatMut::from_row_major_slice_mut(product, rows.len(), cols.len()), lhs, rhs, false);
        let n = self.b.n_cols();
        for (sums, product) in sums.chunks_exact_mut(n).zip(product.chunks_exact(cols.len())) {
            sums[cols.clone()].iter_mut().zip(product).for_each(|(sum, &term)| *sum += term.into());
        }
    }
}

#[derive(Default)]
struct TileScratch<T> {
    a: Vec<T>,
    b: Vec<T>,
    product: Vec<T>,
}

/// A part of a matrix as the product takes it: as it lies if it may, else gathered (and shifted).
fn operand<'s, T: Real>(
    from: &MatrixView<'s, T>,
    rows: Range<usize>,
    cols: Range<usize>,
    shift: Option<&[T]>,
    scratch: &'s mut Vec<T>,
) -> MatRef<'s, T> {
    let (m, n) = (rows.len(), cols.len());
    if shift.is_none() {
        if let Some((values, stride)) = in_rows(from, rows.clone(), cols.clone()) {
            return MatRef::from_row_major_slice_with_stride(values, m, n, stride);
        }
        if let Some((values, stride)) = in_rows(&from.transposed(), cols.clone(), rows.clone()) {
            return MatRef::from_column_major_slice_with_stride(values, m, n, stride);
        }
    }
    scratch.resize(m * n, T::default());
    gather(from, rows, cols, scratch);
    if let Some(shift) = shift {
        for row in scratch.chunks_exact_mut(n) {
            row.iter_mut().zip(shift).for_each(|(value, &shift)| *value = *value - shift);
        }
    }
    MatRef::from_row_major_slice(scratch, m, n)
}
