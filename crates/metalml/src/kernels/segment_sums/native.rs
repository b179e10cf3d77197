//! Spans of rows, each with sums of its own in f64 that are added in order; where these would be too large, one span.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use crate::engine::Real;
use crate::engine::native_rows::part;
use crate::matrix::MatrixView;
use crate::threads::{map_tasks, vectorized};

/// Spans at most, and the bytes that their sums may take together.
const MOST_SPANS: usize = 16;
const SUMS_BYTES: usize = 32 << 20;
/// Rows that are brought at once.
const BLOCK_ROWS: usize = 256;

/// `[sum of w, sums of w d, sums of w d^2]` of each segment.
pub(super) fn segment_sums<T: Real>(
    x: MatrixView<'_, T>,
    labels: &[u32],
    count: usize,
    weights: Option<&[T]>,
    shift: &[f64],
    squares: bool,
) -> Vec<f64> {
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    let width = 1 + n_cols * (1 + usize::from(squares));
    let spans = (SUMS_BYTES / (8 * width * count).max(1)).clamp(1, MOST_SPANS);
    let span = n_rows.div_ceil(spans).next_multiple_of(BLOCK_ROWS).max(1);
    let sums = map_tasks(n_rows.div_ceil(span), n_rows * n_cols, |at| {
        let rows = part(at, span, n_rows);
        let mut sums = vec![0.0; count * width];
        let mut scratch = Vec::new();
        for first in rows.clone().step_by(BLOCK_ROWS) {
            let block = first..rows.end.min(first + BLOCK_ROWS);
            let values = x.rows(block.clone());
            let values = values.packed(&mut scratch);
            for (row, values) in block.zip(values.chunks_exact(n_cols)) {
                let label = labels[row] as usize;
                if label >= count {
                    continue;
                }
                let weight = weights.map_or(1.0, |weights| weights[row].into());
                let sums = &mut sums[label * width..][..width];
                sums[0] += weight;
                vectorized(
                    #[inline(always)]
                    || add_row(&mut sums[1..], values, shift, weight, squares),
                );
            }
        }
        sums
    });
    let mut spans = sums.into_iter();
    let mut total = spans.next().unwrap_or_else(|| vec![0.0; count * width]);
    for sums in spans {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    total
}

#[inline(always)]
fn add_row<T: Real>(sums: &mut [f64], values: &[T], shift: &[f64], weight: f64, squares: bool) {
    let (first, second) = sums.split_at_mut(values.len());
    let each = values.iter().zip(shift).map(|(&value, shift)| value.into() - shift);
    if squares {
        for ((d, first), second) in each.zip(first).zip(second) {
            *first += weight * d;
            *second += weight * d * d;
        }
    } else {
        each.zip(first).for_each(|(d, first)| *first += weight * d);
    }
}
