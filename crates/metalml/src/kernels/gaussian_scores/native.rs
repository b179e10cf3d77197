//! Rows in f64, `LANES` columns side by side, so that they fill vectors.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use super::Gaussians;
use crate::engine::Real;
use crate::engine::native_rows::part;
use crate::matrix::MatrixView;
use crate::threads::{for_each_chunk, vectorized};

/// Rows of a task, and of those the rows that are widened at a time and meet each Gaussian while they lie in cache.
const TASK_ROWS: usize = 1024;
const BLOCK: usize = 16;
const LANES: usize = 16;

/// Writes the scores, row-major, to `out`.
pub(super) fn gaussian_scores<T: Real>(x: MatrixView<'_, T>, of: &Gaussians<'_>, out: &mut [T]) {
    let (n, d, k) = (x.n_rows(), x.n_cols(), of.offset.len());
    if n == 0 || k == 0 {
        return;
    }
    for_each_chunk(out, TASK_ROWS * k, n * d * k, |task, out| {
        let rows = x.rows(part(task, TASK_ROWS, n));
        let (mut scratch, mut wide) = (Vec::new(), Vec::with_capacity(BLOCK * d));
        let values = rows.packed(&mut scratch);
        vectorized(
            #[inline(always)]
            || {
                for (rows, out) in values.chunks(BLOCK * d).zip(out.chunks_mut(BLOCK * k)) {
                    wide.clear();
                    wide.extend(rows.iter().map(|&value| -> f64 { value.into() }));
                    let gaussians = of.place.chunks_exact(d).zip(of.weight.chunks_exact(d));
                    for (class, (place, weight)) in gaussians.enumerate() {
                        for (row, out) in wide.chunks_exact(d).zip(out.chunks_exact_mut(k)) {
                            out[class] = T::from_f64(of.offset[class] - squares(row, place, weight));
                        }
                    }
                }
            },
        );
    });
}

#[inline(always)]
fn squares(row: &[f64], place: &[f64], weight: &[f64]) -> f64 {
    let square = |x: f64, place: f64, weight: f64| {
        let scaled = (x - place) * weight;
        scaled * scaled
    };
    let whole = row.len() / LANES * LANES;
    let mut sums = [0.0; LANES];
    let chunks = row[..whole]
        .chunks_exact(LANES)
        .zip(place.chunks_exact(LANES).zip(weight.chunks_exact(LANES)));
    for (row, (place, weight)) in chunks {
        for lane in 0..LANES {
            sums[lane] += square(row[lane], place[lane], weight[lane]);
        }
    }
    let rest: f64 = (whole..row.len())
        .map(|at| square(row[at], place[at], weight[at]))
        .sum();
    sums.iter().sum::<f64>() + rest
}
