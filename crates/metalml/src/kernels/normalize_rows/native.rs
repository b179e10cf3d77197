//! A block of rows at a time: the norm in f64, at a scale of its own where f64 could not hold its squares.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use super::RowNorm;
use crate::engine::Real;
use crate::engine::native_rows::part;
use crate::matrix::MatrixView;
use crate::threads::{for_each_chunk_apart, vectorized};

/// Elements of a task.
const TASK_LEN: usize = 1 << 16;
const LANES: usize = 16;

/// Writes the rows of `x`, divided by their norms, to `out`.
pub(super) fn normalize_rows<T: Real>(x: MatrixView<'_, T>, norm: RowNorm, out: &mut [T]) {
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    if out.is_empty() {
        return;
    }
    let rows_per_task = (TASK_LEN / n_cols).max(1);
    let work = out.len();
    for_each_chunk_apart(out, rows_per_task * n_cols, work, |task, out| {
        let mut scratch = Vec::new();
        let rows = x.rows(part(task, rows_per_task, n_rows));
        let values = rows.packed(&mut scratch);
        vectorized(
            #[inline(always)]
            || {
                for (row, out) in values.chunks_exact(n_cols).zip(out.chunks_exact_mut(n_cols)) {
                    divide(row, norm, out);
                }
            },
        );
    });
}

#[inline(always)]
fn divide<T: Real>(row: &[T], norm: RowNorm, out: &mut [T]) {
    /// Sums between these have lost nothing.
    const SAFE: std::ops::Range<f64> = 1e-250..1e250;
    let plain = norm_of(row, norm);
    if SAFE.contains(&plain) {
        return write(row, plain, out);
    }
    let largest = row
        .iter()
        .fold(0.0_f64, |largest, &value| largest.max(value.into().abs()));
    if largest == 0.0 {
        return out.copy_from_slice(row);
    }
    // Half of the exponent at a time: a power of two may be out of range where its root is not.
    let half = 0.5_f64.powf((largest.log2() / 2.0).floor());
    let scaled: Vec<f64> = row.iter().map(|&value| value.into() * half * half).collect();
    let length = norm_of(&scaled, norm);
    scaled
        .iter()
        .zip(out)
        .for_each(|(value, out)| *out = T::from_f64(value / length));
}

#[inline(always)]
fn write<T: Real>(row: &[T], length: f64, out: &mut [T]) {
    if size_of::<T>() == size_of::<f32>() {
        // What the reciprocal in f64 rounds is lost in the rounding to f32.
        let factor = 1.0 / length;
        row.iter()
            .zip(out)
            .for_each(|(&value, out)| *out = T::from_f64(value.into() * factor));
    } else {
        row.iter()
            .zip(out)
            .for_each(|(&value, out)| *out = T::from_f64(value.into() / length));
    }
}

#[inline(always)]
fn norm_of<T: Real>(row: &[T], norm: RowNorm) -> f64 {
    let size = |value: T| value.into().abs();
    match norm {
        RowNorm::L1 => fold(row, size, |sum, size| sum + size),
        RowNorm::L2 => fold(row, |value| size(value) * size(value), |sum, square| sum + square).sqrt(),
        RowNorm::Max => fold(row, size, f64::max),
    }
}

#[inline(always)]
fn fold<T: Real>(row: &[T], term: impl Fn(T) -> f64, join: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let whole = row.chunks_exact(LANES);
    let rest = whole.remainder().iter().fold(0.0, |sum, &value| join(sum, term(value)));
    for chunk in whole {
        sums.iter_mut()
            .zip(chunk)
            .for_each(|(sum, &value)| *sum = join(*sum, term(value)));
    }
    sums.iter().fold(rest, |all, &sum| join(all, sum))
}
