//! Rows by the block; sums run in `LANES` accumulators side by side, so that they fill vectors.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use super::RowStat;
use crate::engine::Real;
use crate::engine::native_rows::part;
use crate::matrix::MatrixView;
use crate::threads::{for_each_chunk, vectorized};

/// Rows of a task.
const TASK_ROWS: usize = 1024;
const LANES: usize = 16;

/// The number and the index of each row.
pub(super) fn row_stats<T: Real>(x: MatrixView<'_, T>, stat: RowStat) -> (Vec<T>, Vec<u32>) {
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    let mut found = vec![(T::default(), 0_u32); n_rows];
    for_each_chunk(&mut found, TASK_ROWS, n_rows * n_cols, |task, found| {
        let mut scratch = Vec::new();
        let rows = x.rows(part(task, TASK_ROWS, n_rows));
        let values = rows.packed(&mut scratch);
        vectorized(
            #[inline(always)]
            || {
                for (found, row) in found.iter_mut().zip(values.chunks_exact(n_cols)) {
                    *found = of_row(row, stat);
                }
            },
        );
    });
    found.into_iter().unzip()
}

#[inline(always)]
fn of_row<T: Real>(row: &[T], stat: RowStat) -> (T, u32) {
    let size = |value: T| -> f64 { value.into().abs() };
    match stat {
        RowStat::Sum => (T::from_f64(sum(row, Into::into)), 0),
        RowStat::Squares => (T::from_f64(sum(row, |value| value.into() * value.into())), 0),
        RowStat::L1 => (T::from_f64(sum(row, size)), 0),
        RowStat::L2 => (T::from_f64(length(row)), 0),
        RowStat::Max => (T::from_f64(largest(row)), 0),
        RowStat::Least => extreme(row, |value, best| value < best),
        RowStat::Greatest => extreme(row, |value, best| value > best),
    }
}

/// A sum in f64.
#[inline(always)]
fn sum<T: Real>(row: &[T], term: impl Fn(T) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let whole = row.chunks_exact(LANES);
    let rest: f64 = whole.remainder().iter().map(|&value| term(value)).sum();
    for chunk in whole {
        sums.iter_mut().zip(chunk).for_each(|(sum, &value)| *sum += term(value));
    }
    sums.iter().sum::<f64>() + rest
}

/// The largest size; NaN if there is one.
#[inline(always)]
fn largest<T: Real>(row: &[T]) -> f64 {
    row.iter().fold(0.0, |largest, &value| {
        let size = value.into().abs();
        if size > largest || size.is_nan() { size } else { largest }
    })
}

/// The root of the sum of squares, about the largest size where squares in f64 would not do.
#[inline(always)]
fn length<T: Real>(row: &[T]) -> f64 {
    /// Squares of f64 between these neither overflow nor vanish.
    const SAFE: std::ops::Range<f64> = 1e-280..1e280;
    let squares = sum(row, |value| value.into() * value.into());
    if squares == 0.0 && row.iter().all(|&value| value.into() == 0.0) || SAFE.contains(&squares) || squares.is_nan() {
        return squares.sqrt();
    }
    let largest = largest(row);
    if largest.is_infinite() {
        return largest;
    }
    let scale = 0.5_f64.powi(largest.log2().floor() as i32 / 2);
    let scaled = sum(row, |value| (value.into() * scale * scale).powi(2));
    scaled.sqrt() / scale / scale
}

/// The first of the best values, or of the NaN.
#[inline(always)]
fn extreme<T: Real>(row: &[T], better: impl Fn(T, T) -> bool) -> (T, u32) {
    let (mut best, mut index) = (row[0], 0);
    for (at, &value) in row.iter().enumerate() {
        if best.nan() {
            break;
        }
        if better(value, best) || value.nan() {
            (best, index) = (value, at as u32);
        }
    }
    (best, index)
}
