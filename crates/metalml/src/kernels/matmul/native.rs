//! `a b + bias`: tiles of the result, each on one thread; transposes are strides.
//!
//! Few columns in `b` (a prediction, a gradient) make the product a stream of `a`, with loops of its own, in f64
//! (`stream`). Otherwise blocks multiply in the precision of the data; f32 sums longer than a block add up in f64. A long
//! sum into a small result is cut in runs, which are added in order.

use std::ops::Range;

use faer::{MatMut, MatRef};

use super::terms::HostTerms;
use crate::engine::Real;
use crate::engine::native_product::multiply;
use crate::engine::native_rows::{gather, in_rows, part};
use crate::engine::native_stream::{self as stream, Product};
use crate::matrix::MatrixView;
use crate::threads::{for_each_chunk, map_tasks, vectorized};

/// Rows of the result that a task makes: at most, and at least where that would leave fewer than `ENOUGH_TASKS`, since a task packs all of `b`.
const TASK_ROWS: usize = 128;
const FEW_TASK_ROWS: usize = 48;
const ENOUGH_TASKS: usize = 16;
const STREAM_TASK_ROWS: usize = 512;
/// Rows that a task finishes.
const FINISH_ROWS: usize = 64;
/// Elements of the result that a task makes, about: bounds its scratch memory.
const TASK_RESULT: usize = 1 << 17;
/// Length of an f32 sum before it is added up in f64, which at 256 took a sixth of the time, and of the part of a sum that is gathered at once.
const BLOCK_SUM: usize = 1024;
/// Columns of the result that are made at once where `b` must be gathered.
const BLOCK_COLS: usize = 256;
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
            both.add_to(0..m, part(at, run, k), &mut sums);
            sums
        });
        let mut sums = vec![0.0; m * n];
        for part in &parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        write(&sums, bias, out);
        return;
    }
    let task_rows = if streams {
        STREAM_TASK_ROWS
    } else {
        let tasks = m.div_ceil(TASK_ROWS).max((m / FEW_TASK_ROWS).min(ENOUGH_TASKS)).max(1);
        m.div_ceil(tasks).min((TASK_RESULT / n).max(8))
    };
    if bias.is_none() && b.transposed().is_same_as(&a) {
        symmetric(&both, out, work / 2);
        return;
    }
    let direct = !streams && (k <= BLOCK_SUM || size_of::<T>() == size_of::<f64>());
    for_each_chunk(out, task_rows * n, work, |task, out| {
        let rows = part(task, task_rows, m);
        if direct {
            both.write_to(rows, 0..k, out);
            if let Some(bias) = bias {
                out.chunks_exact_mut(n)
                    .for_each(|out| out.iter_mut().zip(bias).for_each(|(out, &bias)| *out += bias));
            }
        } else {
            let mut sums = vec![0.0; out.len()];
            both.add_to(rows, 0..k, &mut sums);
            write(&sums, bias, out);
        }
    });
}

/// `a aᵀ`: the lower half, then its mirror image.
fn symmetric<T: Real>(product: &Product<'_, T>, out: &mut [T], work: usize) {
    let (m, k) = (product.a.n_rows(), product.a.n_cols());
    for_each_chunk(out, TASK_ROWS * m, work, |task, out| {
        let rows = part(task, TASK_ROWS, m);
        let width = rows.end;
        let half = Product {
            b: product.b.cols(0..width),
            ..*product
        };
        let mut sums = vec![0.0; rows.len() * width];
        half.add_to(rows, 0..k, &mut sums);
        sums.chunks_exact(width)
            .zip(out.chunks_exact_mut(m))
            .for_each(|(sums, out)| write(sums, None, &mut out[..width]));
    });
    for row in 1..m {
        for col in 0..row {
            out[col * m + row] = out[row * m + col];
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
    /// Adds the products of some rows of `a`, over part of the inner dimension, to `sums` (row-major).
    fn add_to(&self, rows: Range<usize>, inner: Range<usize>, sums: &mut [f64]) {
        if self.b.n_cols() <= stream::MAX_COLS {
            stream::add_to(self, rows, inner, sums);
            return;
        }
        let mut block = vec![T::default(); sums.len()];
        for first in inner.clone().step_by(BLOCK_SUM) {
            self.write_to(rows.clone(), first..inner.end.min(first + BLOCK_SUM), &mut block);
            vectorized(
                #[inline(always)]
                || sums.iter_mut().zip(&block).for_each(|(sum, &term)| *sum += term.into()),
            );
        }
    }

    /// Writes the same to `out`, summed in the precision of the data.
    fn write_to(&self, rows: Range<usize>, inner: Range<usize>, out: &mut [T]) {
        let n = self.b.n_cols();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        if inner.is_empty() {
            out.fill(T::default());
        }
        let (k, a_lies, b_lies) = (self.b.n_rows(), lies(&self.a), lies(&self.b));
        let block_sum = if b_lies && a_lies { k.max(1) } else { BLOCK_SUM };
        let block_cols = if b_lies { n } else { BLOCK_COLS };
        for first in inner.clone().step_by(block_sum) {
            let inner_part = first..inner.end.min(first + block_sum);
            let lhs = operand(&self.a, rows.clone(), inner_part.clone(), &mut a);
            for cols in (0..n).step_by(block_cols).map(|col| col..n.min(col + block_cols)) {
                let rhs = operand(&self.b, inner_part.clone(), cols.clone(), &mut b);
                let into = MatMut::from_row_major_slice_mut(&mut *out, rows.len(), n);
                multiply(into.subcols_mut(cols.start, cols.len()), lhs, rhs, first > inner.start);
            }
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
