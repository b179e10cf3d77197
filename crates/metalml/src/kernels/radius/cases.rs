//! The inputs on which this kernel is tested and timed.

use super::reference;
use crate::Result;
use crate::engine::Metric;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct RadiusCase {
    n_rows: usize,
    n_refs: usize,
    n_cols: usize,
    radius: f64,
    metric: Metric,
    offset: f64,
    /// Values so coarse that distances are exact, and some are the radius.
    coarse: bool,
}

impl RadiusCase {
    fn data(&self) -> [Vec<f64>; 2] {
        let mut x = uniform(self.n_rows * self.n_cols, 17);
        let mut y = uniform(self.n_refs * self.n_cols, 18);
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

impl Case for RadiusCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_refs,
            n_cols,
            radius,
            metric,
            offset,
            ..
        } = self;
        format!("radius/{radius}about{n_rows}x{n_cols}of{n_refs}{metric:?}+{offset:e}")
    }
    fn expected(&self) -> Expected {
        let [x, y] = self.data();
        let found = reference::within(self.metric, self.radius, &x, &y, self.n_cols);
        let counts = found.iter().map(|list| list.len() as f64);
        let indices = found.iter().flatten().map(|&(index, _)| index as f64);
        let distances = found.iter().flatten().map(|&(_, distance)| distance);
        let exact: Vec<f64> = counts.chain(indices).collect();
        let cosine = if self.metric == Metric::Cosine { 4.0 } else { 0.0 };
        // Counts and indices are right or wrong; a distance is a sum of n_cols terms.
        let within = |distance: f64| (self.n_cols as f64 + 8.0) * distance + cosine;
        Expected {
            values: exact.iter().copied().chain(distances.clone()).collect(),
            allowed: exact.iter().map(|_| 0.0).chain(distances.map(within)).collect(),
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, y] = self.data();
        let [x] = resident(engine, [&x], self.n_rows, [self.n_cols])?;
        let [y] = resident(engine, [&y], self.n_refs, [self.n_cols])?;
        let [counts] = engine.fetch([&engine.radius_counts(&x, &y, self.radius, self.metric)?])?;
        let mut offsets = vec![0];
        for count in &counts {
            offsets.push(offsets[offsets.len() - 1] + *count as u32);
        }
        let found = engine.radius_lists(&x, &y, self.radius, self.metric, &offsets)?;
        let ([indices], [distances]) = (engine.fetch([&found.indices])?, engine.fetch([&found.distances])?);
        Ok([counts, indices, distances].concat())
    }
    fn work(&self) -> Work {
        let [n, m, d] = [self.n_rows, self.n_refs, self.n_cols].map(|len| len as u64);
        Work {
            elements: 2 * (n * d + m * d) + n,
            operations: 6 * n * m * d,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 150
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |radius, [n_rows, n_refs, n_cols]: [usize; 3], metric, offset, coarse| {
        Box::new(RadiusCase {
            n_rows,
            n_refs,
            n_cols,
            radius,
            metric,
            offset,
            coarse,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(0.0, [1, 1, 1], Metric::Euclidean, 0.0, false),
        case(0.0625, [127, 129, 2], Metric::Euclidean, 1e5, true),
        case(0.0625, [128, 128, 3], Metric::Chebyshev, 1e4, true),
        case(0.125, [129, 300, 4], Metric::Manhattan, 1e5, true),
        case(0.004_882_812_5, [40, 257, 9], Metric::SquaredEuclidean, 0.0, true),
        case(1.25, [60, 530, 18], Metric::Euclidean, 1e5, true),
        case(0.15625, [30, 530, 25], Metric::Euclidean, 1e4, true),
        case(15.3, [33, 70, 8], Metric::Minkowski(3.0), 0.0, false),
        case(0.9, [50, 131, 12], Metric::Cosine, 0.0, false),
        case(1e30, [5, 150, 7], Metric::Euclidean, 0.0, false),
        case(-1.0, [5, 9, 2], Metric::Euclidean, 0.0, true),
    ]
}
