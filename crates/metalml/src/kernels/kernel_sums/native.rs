//! Blocks of rows against panels of references, every term and sum in f64.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use std::ops::Range;

use super::{KernelShape, KernelSum};
use crate::engine::native_distance::{LANES, Panels, Side, Which, panels_at_once, sums};
use crate::engine::native_rows::part;
use crate::engine::{Metric, Real};
use crate::matrix::MatrixView;
use crate::threads::{map_tasks, vectorized};

/// Rows of a block.
const BLOCK_ROWS: usize = 48;
/// Tasks, at least: with fewer blocks of rows, the references are split.
const TASKS: usize = 8;
/// References of a split, at least.
const LEAST_SPLIT: usize = 1024;

/// A sum, as that many times e to the exponent.
type Mass = (f64, f64);

/// The sums of all rows of `x`.
pub(super) fn kernel_sums<T: Real>(
    x: MatrixView<'_, T>,
    y: MatrixView<'_, T>,
    weights: Option<&[T]>,
    sum: &KernelSum,
) -> Vec<T> {
    let (n, m) = (x.n_rows(), y.n_rows());
    let panels = Panels::of(sum.metric, &y);
    let mut padded = vec![0.0; panels.len() * LANES];
    match weights {
        Some(weights) => padded
            .iter_mut()
            .zip(weights)
            .for_each(|(to, &weight)| *to = weight.into()),
        None => padded[..m].fill(1.0),
    }
    let n_blocks = n.div_ceil(BLOCK_ROWS);
    let n_splits = TASKS.div_ceil(n_blocks.max(1)).min(m.div_ceil(LEAST_SPLIT));
    let step = panels.len().div_ceil(n_splits);
    let found = map_tasks(n_blocks * n_splits, n * m * (x.n_cols() + 16), |task| {
        let side = Side::of(sum.metric, &x, part(task / n_splits, BLOCK_ROWS, n), Which::Left);
        let some = part(task % n_splits, step, panels.len());
        block(sum, &side, &panels, some, &padded)
    });
    let value = |mass: Mass| match (sum.log, mass.1 > 0.0) {
        (false, _) => mass.1,
        (true, true) => mass.0 + mass.1.ln(),
        (true, false) => f64::NEG_INFINITY,
    };
    found
        .chunks(n_splits)
        .flat_map(|splits| {
            (0..splits[0].len()).map(move |row| {
                let all = splits.iter().map(|split| split[row]);
                T::from_f64(value(all.reduce(merge).unwrap_or((0.0, 0.0))))
            })
        })
        .collect()
}

fn merge(a: Mass, b: Mass) -> Mass {
    let most = a.0.max(b.0);
    (most, a.1 * (a.0 - most).exp() + b.1 * (b.0 - most).exp())
}

fn block<T: Real>(
    sum: &KernelSum,
    side: &Side<T>,
    panels: &Panels<T>,
    some: Range<usize>,
    weights: &[f64],
) -> Vec<Mass> {
    let at_once = panels_at_once::<T>(side.depth);
    let mut scratch = vec![T::default(); side.n_rows() * at_once * LANES];
    let mut terms = vec![0.0; at_once * LANES];
    // A term's exponent is never above 0.
    let none = if sum.log { f64::MIN } else { 0.0 };
    let mut masses = vec![(none, 0.0); side.n_rows()];
    for first in some.clone().step_by(at_once) {
        let now = first..(first + at_once).min(some.end);
        let width = now.len() * LANES;
        let weights = &weights[first * LANES..first * LANES + width];
        let scratch = &mut scratch[..side.n_rows() * width];
        sums(sum.metric, side, panels, now, scratch);
        vectorized(
            #[inline(always)]
            || {
                for (mass, sums) in masses.iter_mut().zip(scratch.chunks_exact(width)) {
                    let terms = &mut terms[..width];
                    terms.iter_mut().zip(sums).for_each(|(term, &sum)| *term = sum.into());
                    *mass = take(sum, *mass, terms, weights);
                }
            },
        );
    }
    masses
}

/// Adds what some sums of distances stand for.
#[inline(always)]
fn take(sum: &KernelSum, mass: Mass, sums: &mut [f64], weights: &[f64]) -> Mass {
    let inverse = 1.0 / sum.bandwidth;
    let limit = sum.metric.sum_of(sum.bandwidth);
    match sum.shape {
        KernelShape::Gaussian if sum.metric == Metric::Euclidean => {
            let factor = -0.5 * inverse * inverse;
            each(sums, |sum| sum * factor);
            return add_powers(sum.log, mass, sums, weights);
        }
        KernelShape::Gaussian => {
            in_bandwidths(sum.metric, inverse, sums);
            each(sums, |u| -0.5 * u * u);
            return add_powers(sum.log, mass, sums, weights);
        }
        KernelShape::Exponential => {
            in_bandwidths(sum.metric, inverse, sums);
            each(sums, |u| -u);
            return add_powers(sum.log, mass, sums, weights);
        }
        _ => {}
    }
    let mut within = [0.0; LANES];
    for (sums, weights) in sums.chunks_exact_mut(LANES).zip(weights.chunks_exact(LANES)) {
        for lane in 0..LANES {
            within[lane] = if sums[lane] < limit { weights[lane] } else { 0.0 };
        }
        in_bandwidths(sum.metric, inverse, sums);
        match sum.shape {
            KernelShape::Tophat => sums.fill(1.0),
            KernelShape::Epanechnikov => each(sums, |u| (1.0 - u) * (1.0 + u)),
            KernelShape::Linear => each(sums, |u| 1.0 - u),
            _ if within.iter().any(|&weight| weight != 0.0) => {
                each(sums, |u| (std::f64::consts::FRAC_PI_2 * (1.0 - u)).sin().max(0.0));
            }
            _ => {}
        }
        for lane in 0..LANES {
            // What is beyond the limit may be infinite.
            sums[lane] = if within[lane] == 0.0 {
                0.0
            } else {
                sums[lane] * within[lane]
            };
        }
    }
    let most = if sum.log { mass.0.max(0.0) } else { mass.0 };
    let before = if mass.0 < most { 0.0 } else { mass.1 };
    (most, before + total(sums))
}

#[inline(always)]
fn each(values: &mut [f64], map: impl Fn(f64) -> f64) {
    for value in values {
        *value = map(*value);
    }
}

#[inline(always)]
fn in_bandwidths(metric: Metric, inverse: f64, sums: &mut [f64]) {
    match metric {
        Metric::SquaredEuclidean | Metric::Manhattan | Metric::Chebyshev => {
            each(sums, |sum| sum * inverse);
        }
        Metric::Euclidean => each(sums, |sum| sum.sqrt() * inverse),
        Metric::Minkowski(_) | Metric::Cosine => {
            each(sums, |sum| metric.distance_of(sum) * inverse);
        }
    }
}

/// Adds the weights times e to the exponents.
#[inline(always)]
fn add_powers(log: bool, mass: Mass, exponents: &mut [f64], weights: &[f64]) -> Mass {
    let mut most = mass.0;
    if log {
        let mut lanes = [mass.0; LANES];
        for (exponents, weights) in exponents.chunks_exact(LANES).zip(weights.chunks_exact(LANES)) {
            for lane in 0..LANES {
                let counts = weights[lane] != 0.0 && exponents[lane] > lanes[lane];
                lanes[lane] = if counts { exponents[lane] } else { lanes[lane] };
            }
        }
        most = lanes.into_iter().fold(most, f64::max);
    }
    for (exponent, weight) in exponents.iter_mut().zip(weights) {
        *exponent = weight * power(*exponent - most);
    }
    (most, mass.1 * (mass.0 - most).exp() + total(exponents))
}

/// e to the power of `x`, which is not positive, but for rounding and a term without weight; whole vectors of them.
///
/// `2^n e^r` with |r| <= ln 2 / 2, by the series of `e^r` to the 13th power: its rest is below 1e-17. Cody, Waite (1980), "Software
/// manual for the elementary functions", chapter 6.
#[inline(always)]
fn power(x: f64) -> f64 {
    // Added, it leaves a whole number in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
    // 1 / 13!, 1 / 12!, ..
    const SERIES: [f64; 14] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    // Beyond that nothing is left that a sum with 1 would show; nor are there infinities.
    let near = if x > -700.0 { x } else { -700.0 };
    let near = if near < 700.0 { near } else { 700.0 };
    let shifted = near.mul_add(std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let rest = n.mul_add(-LN_2[1], n.mul_add(-LN_2[0], near));
    let mut series = 0.0_f64;
    for factor in SERIES {
        series = series.mul_add(rest, factor);
    }
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let found = series * scale;
    if x > -700.0 { found } else { 0.0 }
}

#[inline(always)]
fn total(values: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    for chunk in values.chunks_exact(LANES) {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    lanes.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use super::power;

    #[test]
    fn powers_are_right_to_the_last_bits() {
        for step in 0..70_000 {
            let x = -f64::from(step) / 100.0;
            assert!((power(x) / x.exp() - 1.0).abs() < 4.0 * f64::EPSILON, "{x}");
        }
        assert_eq!(power(0.0), 1.0);
        assert_eq!([power(-701.0), power(f64::MIN), power(f64::NEG_INFINITY)], [0.0; 3]);
    }
}
