//! Blocks of rows against panels of references; what is nearer than the k-th so far joins a list, which is cut to k when it is full.
//! Euclidean distances of long rows are estimated first, and summed only for those that may be nearer than that.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use std::cmp::Ordering;
use std::ops::Range;

use crate::engine::native_distance::{LANES, Panels, Side, Which, finish, panels_at_once, sums};
use crate::engine::native_estimate::{FEW_COLS, Shifted};
use crate::engine::native_rows::part;
use crate::engine::{Metric, Real};
use crate::matrix::MatrixView;
use crate::threads::{map_tasks, vectorized};

/// Rows of a block.
const BLOCK_ROWS: usize = 96;
/// References whose distances are estimated at once.
const REFS_AT_ONCE: usize = 512;
/// Tasks, at least: with fewer blocks of rows, the references are split.
const TASKS: usize = 8;
/// References of a split, at least.
const LEAST_SPLIT: usize = 1024;

/// A sum and the index of its row.
type Entry<T> = (T, u32);

fn order<T: Real>(a: &Entry<T>, b: &Entry<T>) -> Ordering {
    a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
}

/// The indices and distances of the `k` nearest rows of `y` for each row of `x`, row-major.
pub(super) fn neighbours<T: Real>(
    x: MatrixView<'_, T>,
    y: MatrixView<'_, T>,
    k: usize,
    metric: Metric,
    shift: &[f64],
) -> (Vec<u32>, Vec<T>) {
    let (n, m) = (x.n_rows(), y.n_rows());
    let euclidean = matches!(metric, Metric::Euclidean | Metric::SquaredEuclidean);
    let n_blocks = n.div_ceil(BLOCK_ROWS);
    let n_splits = TASKS.div_ceil(n_blocks.max(1)).min(m.div_ceil(LEAST_SPLIT));
    let tasks = |task: &(dyn Fn(Range<usize>, usize) -> Vec<Vec<Entry<T>>> + Sync)| {
        map_tasks(n_blocks * n_splits, n * m * x.n_cols(), |at| {
            task(part(at / n_splits, BLOCK_ROWS, n), at % n_splits)
        })
    };
    let found = if euclidean && x.n_cols() > FEW_COLS {
        let refs = Shifted::of(&y, shift);
        let step = m.div_ceil(n_splits);
        tasks(&|rows, split| by_estimates(&Shifted::of(&x.rows(rows), shift), &refs, part(split, step, m), k))
    } else {
        let panels = Panels::of(metric, &y);
        let step = panels.len().div_ceil(n_splits);
        tasks(&|rows, split| {
            let side = Side::of(metric, &x, rows, Which::Left);
            block(metric, &side, &panels, part(split, step, panels.len()), k)
        })
    };
    let (mut indices, mut nearest) = (Vec::with_capacity(n * k), Vec::with_capacity(n * k));
    for splits in found.chunks(n_splits) {
        for row in 0..splits[0].len() {
            let mut all: Vec<Entry<T>> = splits.iter().flat_map(|split| split[row].iter().copied()).collect();
            all.sort_unstable_by(order);
            indices.extend(all[..k].iter().map(|entry| entry.1));
            nearest.extend(all[..k].iter().map(|entry| entry.0));
        }
    }
    let mut distances = vec![T::default(); n * k];
    finish(metric, &nearest, &mut distances);
    (indices, distances)
}

/// The list of a row: the nearest so far are in it.
struct List<T> {
    entries: Vec<Entry<T>>,
    limit: T,
    k: usize,
}

impl<T: Real> List<T> {
    fn new(k: usize) -> Self {
        Self {
            entries: Vec::with_capacity(2 * k + LANES),
            limit: T::from_f64(f64::INFINITY),
            k,
        }
    }

    /// Takes sums in, the first of which is that of row `first`. They come by ascending index, so one that equals the limit is too late.
    #[inline(always)]
    fn take(&mut self, sums: &[T], first: usize) {
        for (at, chunk) in sums.chunks(LANES).enumerate() {
            // A sum beyond all numbers may still be among the k.
            let open = self.entries.len() < self.k;
            let limit = self.limit;
            let near = chunk.iter().fold(0_u32, |near, &sum| near + u32::from(sum < limit));
            if near == 0 && !open {
                continue;
            }
            let first = first + at * LANES;
            for (lane, &sum) in chunk.iter().enumerate() {
                if sum < limit || open {
                    self.entries.push((sum, (first + lane) as u32));
                }
            }
            if self.entries.len() >= 2 * self.k {
                self.cut();
            }
        }
    }

    /// The same of estimates: what may be nearer than the limit is summed.
    #[inline(always)]
    fn take_estimates(&mut self, x: &Shifted<T>, row: usize, refs: &Shifted<T>, estimates: &[T], first: usize) {
        let square = x.square(row);
        let mut threshold = x.threshold(square, self.limit.into());
        for (at, chunk) in estimates.chunks(LANES).enumerate() {
            let open = !self.limit.finite();
            let near = chunk
                .iter()
                .fold(0_u32, |near, &value| near + u32::from(value <= threshold));
            if near == 0 && !open {
                continue;
            }
            for (lane, &value) in chunk.iter().enumerate() {
                if value <= threshold || open {
                    let other = first + at * LANES + lane;
                    let sum = x.distance(row, refs, other);
                    if sum < self.limit || open {
                        self.entries.push((sum, other as u32));
                    }
                }
            }
            if self.entries.len() >= 2 * self.k {
                self.cut();
                threshold = x.threshold(square, self.limit.into());
            }
        }
    }

    fn cut(&mut self) {
        if self.entries.len() > self.k {
            self.entries.select_nth_unstable_by(self.k - 1, order);
            self.entries.truncate(self.k);
        }
        if self.entries.len() == self.k {
            self.limit = self.entries[self.k - 1].0;
        }
    }
}

fn by_estimates<T: Real>(x: &Shifted<T>, refs: &Shifted<T>, some: Range<usize>, k: usize) -> Vec<Vec<Entry<T>>> {
    let mut scratch = vec![T::default(); x.n_rows() * REFS_AT_ONCE.min(some.len())];
    let mut lists: Vec<List<T>> = (0..x.n_rows()).map(|_| List::new(k)).collect();
    for first in some.clone().step_by(REFS_AT_ONCE) {
        let now = first..(first + REFS_AT_ONCE).min(some.end);
        let width = now.len();
        let scratch = &mut scratch[..x.n_rows() * width];
        x.estimates(refs, now, scratch);
        vectorized(
            #[inline(always)]
            || {
                for (row, (list, estimates)) in lists.iter_mut().zip(scratch.chunks_exact(width)).enumerate() {
                    list.take_estimates(x, row, refs, estimates, first);
                }
            },
        );
    }
    cut(lists)
}

fn cut<T: Real>(lists: Vec<List<T>>) -> Vec<Vec<Entry<T>>> {
    lists
        .into_iter()
        .map(|mut list| {
            list.cut();
            list.entries
        })
        .collect()
}

fn block<T: Real>(
    metric: Metric,
    side: &Side<T>,
    panels: &Panels<T>,
    some: Range<usize>,
    k: usize,
) -> Vec<Vec<Entry<T>>> {
    let at_once = panels_at_once::<T>(side.depth);
    let mut scratch = vec![T::default(); side.n_rows() * at_once * LANES];
    let mut lists: Vec<List<T>> = (0..side.n_rows()).map(|_| List::new(k)).collect();
    for first in some.clone().step_by(at_once) {
        let now = first..(first + at_once).min(some.end);
        let width = now.len() * LANES;
        let there = width.min(panels.n_rows() - first * LANES);
        let scratch = &mut scratch[..side.n_rows() * width];
        sums(metric, side, panels, now, scratch);
        vectorized(
            #[inline(always)]
            || {
                for (list, sums) in lists.iter_mut().zip(scratch.chunks_exact(width)) {
                    list.take(&sums[..there], first * LANES);
                }
            },
        );
    }
    cut(lists)
}
