//! The inputs on which this kernel is tested and timed.

use super::{KernelShape, KernelSum, reference};
use crate::Result;
use crate::engine::Metric;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct KernelSumsCase {
    n_rows: usize,
    n_refs: usize,
    n_cols: usize,
    sum: KernelSum,
    /// With weights, of both signs if no logarithm is asked for.
    weighted: bool,
    offset: f64,
    coarse: bool,
}

impl KernelSumsCase {
    fn data(&self) -> [Vec<f64>; 2] {
        let mut x = uniform(self.n_rows * self.n_cols, 19);
        let mut y = uniform(self.n_refs * self.n_cols, 20);
        for value in x.iter_mut().chain(&mut y) {
            // Multiples of 1/64 are exact in float32 up to an offset of 1e5.
            let steps = if self.coarse { 4.0 } else { 2048.0 };
            *value = (*value * steps).round() / 64.0 + self.offset;
        }
        // Some rows lie on others, and some at the origin.
        for (row, x) in x.chunks_exact_mut(self.n_cols).enumerate().step_by(5) {
            let of_y = row * 7 % self.n_refs * self.n_cols;
            x.copy_from_slice(&y[of_y..of_y + self.n_cols]);
        }
        if self.offset == 0.0 {
            x[..self.n_cols].fill(0.0);
            y[..self.n_cols].fill(0.0);
        }
        [x, y]
    }

    fn weights(&self) -> Vec<f64> {
        let least = if self.sum.log { 0.5 } else { 0.0 };
        let mut weights = uniform(self.n_refs, 21);
        for weight in &mut weights {
            *weight = if self.weighted { *weight + least } else { 1.0 };
        }
        weights
    }
}

impl Case for KernelSumsCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_refs,
            n_cols,
            sum,
            weighted,
            offset,
            ..
        } = self;
        let KernelSum {
            shape,
            bandwidth,
            metric,
            log,
        } = sum;
        format!(
            "kernel_sums/{n_rows}x{n_cols}of{n_refs}{}{shape:?}{bandwidth}{metric:?}{}+{offset:e}",
            if *weighted { "w" } else { "" },
            if *log { "log" } else { "" }
        )
    }
    fn expected(&self) -> Expected {
        let [x, y] = self.data();
        let found = reference::kernel_sums(&self.sum, &x, &y, &self.weights(), self.n_cols);
        let (mut values, mut allowed) = (Vec::new(), Vec::new());
        // A distance is a sum of n_cols terms; eight terms are added in float32; an exponential is off by some epsilons.
        let roundings = self.n_cols as f64 + 24.0;
        for [most, sum, moves] in found {
            if self.sum.log {
                values.push(most + sum.ln());
                allowed.push(if sum > 0.0 {
                    roundings * (moves / sum + 1.0 + most.abs())
                } else {
                    0.0
                });
            } else {
                values.push(sum * most.exp());
                // What float32 cannot hold vanishes.
                allowed.push(roundings * moves * most.exp() + 1e-30);
            }
        }
        Expected {
            values,
            allowed,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, y] = self.data();
        let [x] = resident(engine, [&x], self.n_rows, [self.n_cols])?;
        let [y, weights] = resident(engine, [&y, &self.weights()], self.n_refs, [self.n_cols, 1])?;
        let found = engine.kernel_sums(&x, &y, self.weighted.then_some(&weights), &self.sum)?;
        Ok(engine.fetch([&found])?.concat())
    }
    fn work(&self) -> Work {
        let [n, m, d] = [self.n_rows, self.n_refs, self.n_cols].map(|len| len as u64);
        Work {
            elements: n * d + m * (d + 1) + n,
            operations: n * m * (3 * d + 8),
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 150 && self.n_refs < 700
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    use KernelShape::{Cosine, Epanechnikov, Exponential, Gaussian, Linear, Tophat};
    use Metric::{Chebyshev, Euclidean, Manhattan, Minkowski, SquaredEuclidean};
    let case = |[n_rows, n_refs, n_cols]: [usize; 3], shape, bandwidth, metric, log, weighted, offset| {
        Box::new(KernelSumsCase {
            n_rows,
            n_refs,
            n_cols,
            sum: KernelSum {
                shape,
                bandwidth,
                metric,
                log,
            },
            weighted,
            offset,
            coarse: bandwidth < 0.5,
        }) as Box<dyn AnyCase>
    };
    vec![
        case([1, 1, 1], Gaussian, 1.0, Euclidean, true, false, 0.0),
        case([127, 129, 3], Gaussian, 8.0, Euclidean, true, true, 1e5),
        case([20, 300, 5], Gaussian, 0.125, Euclidean, true, false, 1e4),
        // So far that no kernel is a float32 by itself.
        case([9, 3, 6], Gaussian, 0.000_976_562_5, Euclidean, true, true, 0.0),
        case([128, 128, 2], Tophat, 0.0625, Euclidean, true, false, 0.0),
        case([30, 140, 6], Tophat, 0.03, Euclidean, true, true, 0.0),
        case([129, 260, 4], Epanechnikov, 16.0, Euclidean, true, true, 1e5),
        case([33, 385, 6], Exponential, 0.25, Euclidean, true, false, 0.0),
        case([40, 130, 3], Linear, 9.0, Manhattan, false, true, 1e4),
        case([50, 127, 7], Cosine, 12.0, Chebyshev, true, false, 0.0),
        case([31, 140, 9], Gaussian, 20.0, Minkowski(3.0), false, true, 0.0),
        case([64, 200, 8], Gaussian, 30.0, SquaredEuclidean, false, true, 0.0),
        case([7, 5000, 4], Exponential, 2.0, Manhattan, false, true, 1e5),
        case([5, 9001, 3], Gaussian, 2.0, Euclidean, true, true, 1e5),
    ]
}
