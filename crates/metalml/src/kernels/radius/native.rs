//! Blocks of rows against panels of references; sums within the limit are counted, or listed.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use crate::engine::native_distance::{LANES, Panels, Side, Which, finish, panels_at_once, sums};
use crate::engine::native_estimate::{FEW_COLS, Shifted, near_rows};
use crate::engine::native_rows::part;
use crate::engine::{Metric, Real};
use crate::matrix::MatrixView;
use crate::threads::{map_tasks, vectorized};

/// Rows of a block.
const BLOCK_ROWS: usize = 96;
/// References whose distances are estimated at once.
const REFS_AT_ONCE: usize = 512;

/// How many rows of `y` are within the limit of each row of `x`.
pub(super) fn counts<T: Real>(x: &MatrixView<'_, T>, y: &MatrixView<'_, T>, limit: T, metric: Metric) -> Vec<u32> {
    let parts = passes(
        x,
        y,
        limit,
        metric,
        |n_rows| vec![0; n_rows],
        |counts: &mut Vec<u32>, row, sums, _| {
            counts[row] += sums.iter().fold(0, |count, &sum| count + u32::from(sum <= limit));
        },
    );
    parts.concat()
}

/// Which they are, and how far, one row of `x` after the other.
pub(super) fn lists<T: Real>(
    x: &MatrixView<'_, T>,
    y: &MatrixView<'_, T>,
    limit: T,
    metric: Metric,
) -> (Vec<u32>, Vec<T>) {
    let parts = passes(
        x,
        y,
        limit,
        metric,
        |n_rows| vec![(Vec::new(), Vec::new()); n_rows],
        |lists, row, sums, first| {
            let (indices, within) = &mut lists[row];
            for (at, chunk) in sums.chunks(LANES).enumerate() {
                if chunk.iter().fold(0, |count, &sum| count + u32::from(sum <= limit)) == 0 {
                    continue;
                }
                for (lane, &sum) in chunk.iter().enumerate().filter(|&(_, &sum)| sum <= limit) {
                    indices.push((first + at * LANES + lane) as u32);
                    within.push(sum);
                }
            }
        },
    );
    let (mut indices, mut within) = (Vec::new(), Vec::new());
    for (some, sums) in parts.into_iter().flatten() {
        indices.extend(some);
        within.extend(sums);
    }
    let mut distances = vec![T::default(); within.len()];
    finish(metric, &within, &mut distances);
    (indices, distances)
}

/// A state for each block of rows of `x`, which `take` is given with all sums of the block that may be within the limit: for a row of it,
/// those of the rows of `y` from `first` on, ascending.
#[inline(always)]
fn passes<T: Real, S: Send>(
    x: &MatrixView<'_, T>,
    y: &MatrixView<'_, T>,
    limit: T,
    metric: Metric,
    new: impl Fn(usize) -> S + Sync,
    take: impl Fn(&mut S, usize, &[T], usize) + Sync,
) -> Vec<S> {
    let (n, m, d) = (x.n_rows(), y.n_rows(), x.n_cols());
    let give = |state: &mut S, sums: &[T], width: usize, first: usize| {
        vectorized(
            #[inline(always)]
            || {
                for (row, sums) in sums.chunks_exact(width).enumerate() {
                    take(state, row, &sums[..width.min(m - first)], first);
                }
            },
        );
    };
    if matches!(metric, Metric::Euclidean | Metric::SquaredEuclidean) && d > FEW_COLS {
        let shift = near_rows(y);
        let refs = Shifted::of(y, &shift);
        return map_tasks(n.div_ceil(BLOCK_ROWS), n * m * d, |task| {
            let rows = Shifted::of(&x.rows(part(task, BLOCK_ROWS, n)), &shift);
            let mut scratch = vec![T::default(); rows.n_rows() * REFS_AT_ONCE.min(m)];
            let mut state = new(rows.n_rows());
            for first in (0..m).step_by(REFS_AT_ONCE) {
                let some = first..(first + REFS_AT_ONCE).min(m);
                let width = some.len();
                let scratch = &mut scratch[..rows.n_rows() * width];
                rows.sums_within(&refs, some, limit, scratch);
                give(&mut state, scratch, width, first);
            }
            state
        });
    }
    let panels = Panels::of(metric, y);
    map_tasks(n.div_ceil(BLOCK_ROWS), n * m * d, |task| {
        let side = Side::of(metric, x, part(task, BLOCK_ROWS, n), Which::Left);
        let at_once = panels_at_once::<T>(side.depth);
        let mut scratch = vec![T::default(); side.n_rows() * at_once * LANES];
        let mut state = new(side.n_rows());
        for first in (0..panels.len()).step_by(at_once) {
            let some = first..(first + at_once).min(panels.len());
            let width = some.len() * LANES;
            let scratch = &mut scratch[..side.n_rows() * width];
            sums(metric, &side, &panels, some, scratch);
            give(&mut state, scratch, width, first * LANES);
        }
        state
    })
}
