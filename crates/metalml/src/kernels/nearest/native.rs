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
use crate::threads::{map_tasks, vectorized};

/// Elements of the products of a block: they stay in the second cache.
const BLOCK: usize = 32 << 10;
const BLOCK_ROWS: std::ops::RangeInclusive<usize> = 8..=256;

/// The labels and squared distances of all rows of `x`.
pub(super) fn nearest<T: Real>(x: MatrixView<'_, T>, centres: MatrixView<'_, T>, shift: &[f64]) -> (Vec<u32>, Vec<T>) {
    let (n, k, d) = (x.n_rows(), centres.n_rows(), x.n_cols());
    let block_rows = (BLOCK / k).clamp(*BLOCK_ROWS.start(), *BLOCK_ROWS.end());
    let n_tasks = n.div_ceil(block_rows);
    let parts = if d <= FEW_COLS {
        let panels = Panels::of(Metric::SquaredEuclidean, &centres);
        map_tasks(n_tasks, n * k * d, |task| {
            directly(&x, &panels, part(task, block_rows, n))
        })
    } else {
        let all = Shifted::of(&centres, shift);
        map_tasks(n_tasks, n * k * d, |task| {
            by_estimates(&Shifted::of(&x.rows(part(task, block_rows, n)), shift), &all)
        })
    };
    parts.into_iter().flatten().unzip()
}

/// The least of each row of direct sums.
fn directly<T: Real>(x: &MatrixView<'_, T>, panels: &Panels<T>, rows: std::ops::Range<usize>) -> Vec<(u32, T)> {
    let side = Side::of(Metric::SquaredEuclidean, x, rows, Which::Left);
    let width = panels.len() * LANES;
    let mut all = vec![T::default(); side.n_rows() * width];
    sums(Metric::SquaredEuclidean, &side, panels, 0..panels.len(), &mut all);
    vectorized(
        #[inline(always)]
        || {
            all.chunks_exact(width)
                .map(|row| {
                    let row = &row[..panels.n_rows()];
                    let value = least(row);
                    let label = row.iter().position(|&other| other == value).unwrap_or(0);
                    (label as u32, value)
                })
                .collect()
        },
    )
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
fn by_estimates<T: Real>(x: &Shifted<T>, centres: &Shifted<T>) -> Vec<(u32, T)> {
    let k = centres.n_rows();
    let mut estimates = vec![T::default(); x.n_rows() * k];
    x.estimates(centres, 0..k, &mut estimates);
    vectorized(
        #[inline(always)]
        || {
            estimates
                .chunks_exact(k)
                .enumerate()
                .map(
                    #[inline(always)]
                    |(row, estimates)| settle(x, row, centres, estimates),
                )
                .collect()
        },
    )
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
