//! Mean, squares around it, count and range of each column, in one reading of the matrix.
//!
//! Each block of rows stays in the cache while it is read twice: for its mean, then for the squares around that mean,
//! corrected by what rounding left in the mean (the corrected two-pass form). Blocks merge in a fixed order by the rule of
//! Chan and others (1979, "Updating formulae and a pairwise algorithm"; 1983, The American Statistician 37). A mean is
//! held as a pair of f64, so neither an offset nor an outlier costs digits. A block whose sums are finite holds no NaN:
//! only the others are read with a mask.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use std::ops::Range;

use crate::engine::Real;
use crate::engine::native_rows::{Block, part, rows_side_by_side};
use crate::matrix::MatrixView;
use crate::threads::{map_tasks, vectorized};

/// Bytes of a block: it is read twice, so it must stay in the second cache.
const BLOCK_BYTES: usize = 128 << 10;
/// Columns of a block.
const BLOCK_COLS: usize = 256;
/// Blocks of a task, at least.
const TASK_BLOCKS: usize = 2;
/// Tasks altogether, at most: bounds the memory of partial results.
const MAX_TASKS: usize = 512;

/// The sums `[weight | mean - shift | squares around the mean | count]`, then the range `[min | max]`, each a run of
/// `n_cols`. NaN is skipped column by column; a column without weight has mean - shift 0; one without values has the
/// range `[inf, -inf]`.
pub(super) fn column_stats<T: Real>(x: MatrixView<'_, T>, weights: Option<&[T]>, shift: &[T]) -> (Vec<f64>, Vec<T>) {
    let (n, d) = (x.n_rows(), x.n_cols());
    let n_tiles = d.div_ceil(BLOCK_COLS);
    let tile_width = d.clamp(1, BLOCK_COLS);
    let block_rows = (BLOCK_BYTES / (tile_width * size_of::<T>())).next_multiple_of(rows_side_by_side(d));
    let most_spans = (MAX_TASKS / n_tiles.max(1)).max(1);
    let span = n
        .div_ceil(most_spans)
        .next_multiple_of(block_rows)
        .max(TASK_BLOCKS * block_rows);
    let n_spans = n.div_ceil(span);

    let parts = map_tasks(n_spans * n_tiles, n * d, |task| {
        let cols = part(task / n_spans, BLOCK_COLS, d);
        let mut all = Stats::new(cols.len());
        let mut scratch = Scratch::default();
        let rows = part(task % n_spans, span, n);
        for first in rows.clone().step_by(block_rows) {
            let rows = first..rows.end.min(first + block_rows);
            let block = block_stats(&x, rows, cols.clone(), weights, &mut scratch);
            vectorized(
                #[inline(always)]
                || all.merge(block),
            );
        }
        all
    });

    let (mut sums, mut range) = (vec![0.0; 4 * d], vec![T::default(); 2 * d]);
    range[..d].fill(T::from_f64(f64::INFINITY));
    range[d..].fill(T::from_f64(f64::NEG_INFINITY));
    for (tile, spans) in parts.chunks(n_spans.max(1)).enumerate() {
        let cols = part(tile, BLOCK_COLS, d);
        let mut all = Stats::new(cols.len());
        for span in spans {
            all.merge(span);
        }
        for (j, col) in cols.enumerate() {
            let weighs = all.weight[j] != 0.0;
            let mean = (all.mean[j] - shift[col].into()) + all.mean_rest[j];
            let results = [
                all.weight[j],
                if weighs { mean } else { 0.0 },
                all.squares[j],
                all.count[j],
            ];
            results
                .into_iter()
                .enumerate()
                .for_each(|(run, value)| sums[run * d + col] = value);
            range[col] = all.min[j];
            range[d + col] = all.max[j];
        }
    }
    (sums, range)
}

/// Statistics of some rows, a value a column (or a lane, while rows lie side by side).
#[derive(Default)]
struct Stats<T> {
    weight: Vec<f64>,
    count: Vec<f64>,
    mean: Vec<f64>,
    /// What the rounding of `mean` left out.
    mean_rest: Vec<f64>,
    squares: Vec<f64>,
    min: Vec<T>,
    max: Vec<T>,
}

impl<T: Real> Stats<T> {
    fn new(width: usize) -> Self {
        let mut empty = Self::default();
        empty.reset(width);
        empty
    }

    /// Of no rows.
    fn reset(&mut self, width: usize) {
        for sums in [
            &mut self.weight,
            &mut self.count,
            &mut self.mean,
            &mut self.mean_rest,
            &mut self.squares,
        ] {
            sums.clear();
            sums.resize(width, 0.0);
        }
        for (bounds, none) in [(&mut self.min, f64::INFINITY), (&mut self.max, f64::NEG_INFINITY)] {
            bounds.clear();
            bounds.resize(width, T::from_f64(none));
        }
    }

    /// Takes in other rows, by Chan's rule.
    #[inline(always)]
    fn merge(&mut self, other: &Self) {
        let width = self.weight.len();
        let [weight, count, mean, rest, squares] = [
            &mut self.weight,
            &mut self.count,
            &mut self.mean,
            &mut self.mean_rest,
            &mut self.squares,
        ]
        .map(|sums| &mut sums[..width]);
        for j in 0..width {
            let total = weight[j] + other.weight[j];
            let share = if total == 0.0 { 0.0 } else { other.weight[j] / total };
            let apart = (other.mean[j] - mean[j]) + (other.mean_rest[j] - rest[j]);
            let (moved, lost) = two_sum(mean[j], apart * share);
            let first = weight[j] == 0.0;
            let between = if first {
                0.0
            } else {
                apart * apart * (weight[j] * share)
            };
            mean[j] = if first { other.mean[j] } else { moved };
            rest[j] = if first { other.mean_rest[j] } else { rest[j] + lost };
            squares[j] += other.squares[j] + between;
            weight[j] = total;
            count[j] += other.count[j];
        }
        for (min, &other) in self.min.iter_mut().zip(&other.min) {
            *min = min.lesser(other);
        }
        for (max, &other) in self.max.iter_mut().zip(&other.max) {
            *max = max.greater(other);
        }
    }
}

/// Memory that a task uses again for each block.
#[derive(Default)]
struct Scratch<T> {
    gathered: Vec<T>,
    lanes: Stats<T>,
    stats: Stats<T>,
}

fn block_stats<'s, T: Real>(
    x: &MatrixView<'_, T>,
    rows: Range<usize>,
    cols: Range<usize>,
    weights: Option<&[T]>,
    scratch: &'s mut Scratch<T>,
) -> &'s Stats<T> {
    let Scratch { gathered, lanes, stats } = scratch;
    let block = Block::of(x, rows.clone(), cols, gathered);
    let dense = weights.is_none()
        && vectorized(
            #[inline(always)]
            || dense_stats(block, lanes, stats),
        );
    if !dense {
        let weights = weights.map(|weights| &weights[rows]);
        vectorized(
            #[inline(always)]
            || masked_stats(block, weights, stats),
        );
    }
    stats
}

/// Statistics of a block without NaN and weights; false if it turns out to have NaN or infinity.
#[inline(always)]
fn dense_stats<T: Real>(block: Block<'_, T>, lanes: &mut Stats<T>, stats: &mut Stats<T>) -> bool {
    let d = block.width;
    let n = block.n_rows() as f64;
    let together = if block.stride == d { rows_side_by_side(d) } else { 1 };
    let wide = Block {
        values: block.values,
        stride: block.stride * together,
        width: d * together,
    };
    lanes.reset(wide.width);
    stats.reset(d);

    for_each_four(
        wide,
        #[inline(always)]
        |rows, len| sum_and_range(rows, len, lanes),
    );
    for ((sums, min), max) in lanes.mean.chunks(d).zip(lanes.min.chunks(d)).zip(lanes.max.chunks(d)) {
        for j in 0..d {
            stats.mean[j] += sums[j];
            stats.min[j] = stats.min[j].lesser(min[j]);
            stats.max[j] = stats.max[j].greater(max[j]);
        }
    }
    if !stats.mean.iter().all(|sum| sum.is_finite()) {
        return false;
    }
    stats.mean.iter_mut().for_each(|mean| *mean /= n);
    lanes
        .mean
        .chunks_mut(d)
        .for_each(|mean| mean.copy_from_slice(&stats.mean));

    for_each_four(
        wide,
        #[inline(always)]
        |rows, len| squares_around_mean(rows, len, lanes),
    );
    for (lane_rest, lane_squares) in lanes.mean_rest.chunks(d).zip(lanes.squares.chunks(d)) {
        for j in 0..d {
            stats.mean_rest[j] += lane_rest[j];
            stats.squares[j] += lane_squares[j];
        }
    }
    for (rest, squares) in stats.mean_rest.iter_mut().zip(&mut stats.squares) {
        let corrected = *squares - *rest * *rest / n;
        // Rounding may leave less than nothing. What overflowed is NaN by now, and stays so: `max` would take it for 0.
        *squares = if corrected < 0.0 { 0.0 } else { corrected };
        *rest /= n;
    }
    stats.weight.fill(n);
    stats.count.fill(n);
    true
}

/// Calls `step` with four rows and their length, while there are four; then with one, the others being empty.
#[inline(always)]
fn for_each_four<'a, T: Real>(block: Block<'a, T>, mut step: impl FnMut([&'a [T]; 4], usize)) {
    let Block {
        mut values,
        stride,
        width,
    } = block;
    while values.len() >= 3 * stride + width {
        step(std::array::from_fn(|r| &values[r * stride..r * stride + width]), 4);
        values = &values[values.len().min(4 * stride)..];
    }
    while !values.is_empty() {
        step([&values[..width.min(values.len())], &[], &[], &[]], 1);
        values = &values[values.len().min(stride)..];
    }
}

#[inline(always)]
fn sum_and_range<T: Real>([a, b, c, e]: [&[T]; 4], n_rows: usize, lanes: &mut Stats<T>) {
    let width = a.len();
    let (sums, min, max) = (
        &mut lanes.mean[..width],
        &mut lanes.min[..width],
        &mut lanes.max[..width],
    );
    if n_rows == 4 {
        let (b, c, e) = (&b[..width], &c[..width], &e[..width]);
        for j in 0..width {
            sums[j] += (a[j].into() + b[j].into()) + (c[j].into() + e[j].into());
            min[j] = min[j].lesser(a[j].lesser(b[j]).lesser(c[j].lesser(e[j])));
            max[j] = max[j].greater(a[j].greater(b[j]).greater(c[j].greater(e[j])));
        }
    } else {
        for j in 0..width {
            sums[j] += a[j].into();
            min[j] = min[j].lesser(a[j]);
            max[j] = max[j].greater(a[j]);
        }
    }
}

#[inline(always)]
fn squares_around_mean<T: Real>([a, b, c, e]: [&[T]; 4], n_rows: usize, lanes: &mut Stats<T>) {
    let width = a.len();
    let (mean, rest, squares) = (
        &lanes.mean[..width],
        &mut lanes.mean_rest[..width],
        &mut lanes.squares[..width],
    );
    if n_rows == 4 {
        let (b, c, e) = (&b[..width], &c[..width], &e[..width]);
        for j in 0..width {
            let [a, b, c, e] = [a[j], b[j], c[j], e[j]].map(|value| value.into() - mean[j]);
            rest[j] += (a + b) + (c + e);
            squares[j] += (a * a + b * b) + (c * c + e * e);
        }
    } else {
        for j in 0..width {
            let apart = a[j].into() - mean[j];
            rest[j] += apart;
            squares[j] += apart * apart;
        }
    }
}

/// Statistics of any block: weights, and values that are left out.
#[inline(always)]
fn masked_stats<T: Real>(block: Block<'_, T>, weights: Option<&[T]>, stats: &mut Stats<T>) {
    stats.reset(block.width);
    let rows = || {
        let weight = move |r: usize| weights.map_or(1.0, |weights| weights[r].into());
        block
            .values
            .chunks(block.stride)
            .enumerate()
            .map(move |(r, row)| (weight(r), &row[..block.width]))
    };
    for (row_weight, row) in rows() {
        let [weight, count, sums] =
            [&mut stats.weight, &mut stats.count, &mut stats.mean].map(|sums| &mut sums[..row.len()]);
        for j in 0..row.len() {
            let value: f64 = row[j].into();
            let known = !value.is_nan();
            weight[j] += if known { row_weight } else { 0.0 };
            count[j] += if known { 1.0 } else { 0.0 };
            sums[j] += if known { row_weight * value } else { 0.0 };
        }
        for ((min, max), &value) in stats.min.iter_mut().zip(&mut stats.max).zip(row) {
            *min = min.lesser(value);
            *max = max.greater(value);
        }
    }
    for (mean, &weight) in stats.mean.iter_mut().zip(&stats.weight) {
        *mean = if weight == 0.0 { 0.0 } else { *mean / weight };
    }
    for (row_weight, row) in rows() {
        let (rest, squares) = (&mut stats.mean_rest[..row.len()], &mut stats.squares[..row.len()]);
        for j in 0..row.len() {
            let apart = row[j].into() - stats.mean[j];
            let apart = if apart.is_nan() && row[j].into().is_nan() {
                0.0
            } else {
                apart
            };
            rest[j] += row_weight * apart;
            squares[j] += row_weight * (apart * apart);
        }
    }
    for ((rest, squares), &weight) in stats.mean_rest.iter_mut().zip(&mut stats.squares).zip(&stats.weight) {
        let share = if weight == 0.0 { 0.0 } else { *rest / weight };
        *squares -= *rest * share;
        *rest = share;
    }
}

/// The rounded sum and exactly what rounding lost (Knuth).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}
