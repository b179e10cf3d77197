//! The inputs on which this kernel is tested and timed.

use super::reference;
use crate::Result;
use crate::engine::Metric;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct NeighboursCase {
    n_rows: usize,
    n_refs: usize,
    n_cols: usize,
    k: usize,
    metric: Metric,
    offset: f64,
    /// Values so coarse that distances are exact and often equal.
    coarse: bool,
}

impl NeighboursCase {
    fn data(&self) -> [Vec<f64>; 2] {
        let mut x = uniform(self.n_rows * self.n_cols, 15);
        let mut y = uniform(self.n_refs * self.n_cols, 16);
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
}

impl Case for NeighboursCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_refs,
            n_cols,
            k,
            metric,
            offset,
            ..
        } = self;
        format!("neighbours/{k}for{n_rows}x{n_cols}of{n_refs}{metric:?}+{offset:e}")
    }
    fn expected(&self) -> Expected {
        let [x, y] = self.data();
        let found = reference::neighbours(self.metric, &x, &y, self.n_cols, self.k);
        let indices = found.iter().map(|&(index, _)| index as f64);
        let distances = found.iter().map(|&(_, distance)| distance);
        let cosine = if self.metric == Metric::Cosine { 4.0 } else { 0.0 };
        // An index is right or wrong; a distance is a sum of n_cols terms.
        let within = |distance: f64| (self.n_cols as f64 + 8.0) * distance + cosine;
        Expected {
            values: indices.clone().chain(distances.clone()).collect(),
            allowed: indices.map(|_| 0.0).chain(distances.map(within)).collect(),
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, y] = self.data();
        let [x] = resident(engine, [&x], self.n_rows, [self.n_cols])?;
        let [y] = resident(engine, [&y], self.n_refs, [self.n_cols])?;
        // Near, yet not too near: the answers must be right all the same.
        let shift = vec![self.offset + 0.125; self.n_cols];
        let found = engine.neighbours(&x, &y, self.k, self.metric, &shift)?;
        let ([indices], [distances]) = (engine.fetch([&found.indices])?, engine.fetch([&found.distances])?);
        Ok([indices, distances].concat())
    }
    fn work(&self) -> Work {
        let [n, m, d, k] = [self.n_rows, self.n_refs, self.n_cols, self.k].map(|len| len as u64);
        Work {
            elements: n * d + m * d + 2 * n * k,
            operations: 3 * n * m * d,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_refs < 700
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |k, [n_rows, n_refs, n_cols]: [usize; 3], metric, offset, coarse| {
        Box::new(NeighboursCase {
            n_rows,
            n_refs,
            n_cols,
            k,
            metric,
            offset,
            coarse,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(1, [1, 1, 1], Metric::Euclidean, 0.0, false),
        case(5, [3, 5, 2], Metric::Manhattan, 1e5, true),
        case(5, [127, 129, 7], Metric::Euclidean, 1e5, false),
        case(10, [129, 640, 9], Metric::SquaredEuclidean, 1e5, false),
        case(10, [97, 1100, 17], Metric::Euclidean, 1e5, true),
        case(3, [40, 600, 33], Metric::SquaredEuclidean, 1e5, false),
        case(33, [40, 384, 3], Metric::Chebyshev, 1e4, true),
        case(128, [20, 385, 4], Metric::Manhattan, 0.0, true),
        case(7, [30, 260, 5], Metric::Minkowski(3.0), 0.0, false),
        case(4, [50, 150, 40], Metric::Cosine, 0.0, false),
        case(300, [9, 1500, 6], Metric::Euclidean, 0.0, true),
        case(1024, [3, 4500, 2], Metric::SquaredEuclidean, 1e5, true),
        case(16, [5, 9001, 8], Metric::Euclidean, 1e4, true),
        case(1024, [3, 4500, 6], Metric::SquaredEuclidean, 1e5, true),
        case(40, [30, 2000, 4], Metric::Euclidean, 0.0, true),
        case(3, [70, 5000, 16], Metric::Euclidean, 1e5, false),
        // Blocks of queries in the tests with small bindings.
        case(3, [700, 90, 8], Metric::Euclidean, 1e5, false),
    ]
}
