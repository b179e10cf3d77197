//! Blocks of rows against all centres: by a matrix product of what is left of them less the shift, and direct sums for every centre
//! that rounding leaves a chance; short rows by direct sums alone.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use crate::engine::native_distance::{LANES, Panels, Side, Which, sums};
use crate::engine::native_estimate::{FEW_COLS, Shifted};
use crate::engine::native_rows::part;
use crate::engine::{Metric, Real};
use crate::matrix::MatrixView;
use crate::threads::{for_each_chunk, vectorized};

/// Elements of the products of a block: they stay in the second cache, and there are rows enough for each pass over the centres.
const BLOCK: usize = 128 << 10;
const BLOCK_ROWS: std::ops::RangeInclusive<usize> = 16..=256;

/// The labels and squared distances of all rows of `x`.
pub(super) fn nearest<T: Real>(x: MatrixView<'_, T>, centres: MatrixView<'_, T>, shift: &[f64]) -> (Vec<u32>, Vec<T>) {
    let (n, k, d) = (x.n_rows(), centres.n_rows(), x.n_cols());
    let block_rows = (BLOCK / k).clamp(*BLOCK_ROWS.start(), *BLOCK_ROWS.end());
    let (mut labels, mut distances) = (vec![0; n], vec![T::default(); n]);
    let mut blocks: Vec<_> = labels
        .chunks_mut(block_rows)
        .zip(distances.chunks_mut(block_rows))
        .collect();
    let work = n * d * k.div_ceil(8);
    if d <= FEW_COLS {
        let side = Side::of(Metric::SquaredEuclidean, &centres, 0..k, Which::Left);
        for_each_chunk(&mut blocks, 1, work, |task, block| {
            directly(&x.rows(part(task, block_rows, n)), &side, &mut block[0]);
        });
    } else {
        let all = Shifted::of(&centres, shift);
        for_each_chunk(&mut blocks, 1, work, |task, block| {
            let rows = Shifted::of(&x.rows(part(task, block_rows, n)), shift);
            by_estimates(&rows, &all, &mut block[0]);
        });
    }
    (labels, distances)
}

/// The labels and distances of some rows, to write.
type Block<'b, T> = (&'b mut [u32], &'b mut [T]);

/// The rows side by side, and one centre after the other.
fn directly<T: Real>(x: &MatrixView<'_, T>, centres: &Side<T>, (labels, distances): &mut Block<'_, T>) {
    let panels = Panels::of(Metric::SquaredEuclidean, x);
    let width = panels.len() * LANES;
    let mut all = vec![T::default(); centres.n_rows() * width];
    sums(Metric::SquaredEuclidean, centres, &panels, 0..panels.len(), &mut all);
    distances.copy_from_slice(&all[..distances.len()]);
    vectorized(
        #[inline(always)]
        || {
            for (label, sums) in all.chunks_exact(width).enumerate().skip(1) {
                for ((best, distance), &sum) in labels.iter_mut().zip(distances.iter_mut()).zip(sums) {
                    let nearer = sum < *distance;
                    *best = if nearer { label as u32 } else { *best };
                    *distance = if nearer { sum } else { *distance };
                }
            }
        },
    );
}

/// The least of some values: side by side, as vectors are compared.
#[inline(always)]
fn least<T: Real>(values: &[T]) -> T {
    let lesser = |a: T, b: T| if b < a { b } else { a };
    let mut lanes = [T::from_f64(f64::INFINITY); LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = lesser(lanes[lane], chunk[lane]);
        }
    }
    lanes.into_iter().chain(rest.iter().copied()).fold(lanes[0], lesser)
}

/// Estimates of all centres for a block of rows; a row takes the least of the direct sums of those that rounding leaves a chance.
fn by_estimates<T: Real>(x: &Shifted<T>, centres: &Shifted<T>, (labels, distances): &mut Block<'_, T>) {
    let k = centres.n_rows();
    let mut estimates = vec![T::default(); x.n_rows() * k];
    x.estimates(centres, 0..k, &mut estimates);
    vectorized(
        #[inline(always)]
        || {
            for (row, estimates) in estimates.chunks_exact(k).enumerate() {
                (labels[row], distances[row]) = settle(x, row, centres, estimates);
            }
        },
    );
}

#[inline(always)]
fn settle<T: Real>(x: &Shifted<T>, row: usize, centres: &Shifted<T>, estimates: &[T]) -> (u32, T) {
    let square = x.square(row);
    let reach = (square + least(estimates).into()).max(0.0);
    // The nearest is not farther than the one of the least estimate.
    let threshold = x.threshold(square, reach + x.bound(square, reach));
    let mut found = (0, T::from_f64(f64::INFINITY));
    for (first, chunk) in estimates.chunks(LANES).enumerate() {
        let near = chunk
            .iter()
            .fold(0_u32, |near, &value| near + u32::from(value <= threshold));
        if near == 0 {
            continue;
        }
        for (lane, _) in chunk.iter().enumerate().filter(|&(_, &value)| value <= threshold) {
            let label = first * LANES + lane;
            let distance = x.distance(row, centres, label);
            if distance < found.1 {
                found = (label as u32, distance);
            }
        }
    }
    found
}
