//! The inputs on which this kernel is tested and timed.

use super::reference;
use crate::Result;
use crate::engine::Metric;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct PairwiseDistanceCase {
    n_rows: usize,
    n_refs: usize,
    n_cols: usize,
    metric: Metric,
    offset: f64,
    coarse: bool,
}

impl PairwiseDistanceCase {
    fn data(&self) -> [Vec<f64>; 2] {
        let mut x = uniform(self.n_rows * self.n_cols, 13);
        let mut y = uniform(self.n_refs * self.n_cols, 14);
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
    /// How many epsilons a distance may be off for each unit of its size: it is a sum of `n_cols` terms, or a root of one.
    fn relative(&self) -> f64 {
        let powers = if let Metric::Minkowski(_) = self.metric {
            64.0
        } else {
            4.0
        };
        self.n_cols as f64 + powers
    }
    /// Rows of length 1 are rounded once more, which shows near 0.
    fn absolute(&self) -> f64 {
        if self.metric == Metric::Cosine { 4.0 } else { 0.0 }
    }
}

impl Case for PairwiseDistanceCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_refs,
            n_cols,
            metric,
            offset,
            ..
        } = self;
        format!("pairwise_distance/{n_rows}x{n_cols}to{n_refs}{metric:?}+{offset:e}")
    }
    fn expected(&self) -> Expected {
        let [x, y] = self.data();
        let values = reference::pairwise_distance(self.metric, &x, &y, self.n_cols);
        let allowed = values
            .iter()
            .map(|value| self.relative() * value + self.absolute())
            .collect();
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
        let [y] = resident(engine, [&y], self.n_refs, [self.n_cols])?;
        let mut out = engine.create(self.n_rows, self.n_refs)?;
        engine.pairwise_distance(&x, &y, self.metric, &mut E::write(&mut out))?;
        engine.fetch_matrix(&out)
    }
    fn work(&self) -> Work {
        let [n, m, d] = [self.n_rows, self.n_refs, self.n_cols].map(|len| len as u64);
        Work {
            elements: n * d + m * d + n * m,
            operations: 3 * n * m * d,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 150
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |n_rows, n_refs, n_cols, metric, offset, coarse| {
        Box::new(PairwiseDistanceCase {
            n_rows,
            n_refs,
            n_cols,
            metric,
            offset,
            coarse,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(1, 1, 1, Metric::Euclidean, 0.0, false),
        case(3, 2, 5, Metric::SquaredEuclidean, 1e5, false),
        case(127, 129, 7, Metric::Euclidean, 1e5, false),
        case(128, 128, 8, Metric::Manhattan, 1e5, false),
        case(129, 127, 9, Metric::Chebyshev, 1e5, false),
        case(67, 131, 17, Metric::Minkowski(3.0), 1e4, true),
        case(31, 40, 5, Metric::Minkowski(1.5), 0.0, true),
        case(60, 150, 16, Metric::Cosine, 0.0, false),
        case(65, 33, 6, Metric::Cosine, 3.0, false),
        case(200, 70, 1, Metric::Manhattan, 0.0, true),
        case(5, 263, 150, Metric::SquaredEuclidean, 1e5, false),
    ]
}
