//! The inputs on which this kernel is tested and timed.

use super::{Segments, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct SegmentSumsCase {
    n_rows: usize,
    n_cols: usize,
    count: usize,
    weighted: bool,
    squares: bool,
    offset: f64,
}

impl SegmentSumsCase {
    fn values(&self) -> Vec<f64> {
        let values = uniform(self.n_rows * self.n_cols, 31);
        values
            .iter()
            .map(|value| (value * 64.0).round() / 32.0 + self.offset)
            .collect()
    }

    fn weights(&self) -> Vec<f64> {
        uniform(self.n_rows, 32).iter().map(|weight| weight + 0.5).collect()
    }

    /// Some segments are empty, one is long, and some rows belong nowhere.
    fn labels(&self) -> Vec<u32> {
        let count = self.count as f64;
        uniform(self.n_rows, 33)
            .iter()
            .map(|value| {
                let place = value + 0.5;
                if place < 0.3 {
                    0
                } else {
                    ((place * place * 1.1 * count) as u32) / 2 * 2
                }
            })
            .collect()
    }

    fn shift(&self) -> Vec<f64> {
        vec![self.offset + 0.25; self.n_cols]
    }
}

impl Case for SegmentSumsCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            count,
            weighted,
            squares,
            offset,
        } = self;
        format!(
            "segment_sums/{n_rows}x{n_cols}by{count}{}{}+{offset:e}",
            if *weighted { "w" } else { "" },
            if *squares { "s" } else { "" }
        )
    }
    fn expected(&self) -> Expected {
        let weights = self.weighted.then(|| self.weights());
        let (values, labels, shift) = (self.values(), self.labels(), self.shift());
        let values = reference::segment_sums(&values, &labels, self.count, weights.as_deref(), &shift, self.squares);
        // Each level of the tree, and each part, rounds once; terms are up to 4.
        let roundings = 8.0 + (self.n_rows as f64).log2();
        let allowed = values.iter().map(|value| roundings * (value.abs() + 16.0)).collect();
        Expected {
            values,
            allowed,
            wide: true,
            leeway: 4.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, weights] = resident(engine, [&self.values(), &self.weights()], self.n_rows, [self.n_cols, 1])?;
        let labels = engine.upload(&self.labels())?;
        let segments = Segments {
            labels: &labels,
            count: self.count,
            weights: self.weighted.then_some(&weights),
            shift: &self.shift(),
            squares: self.squares,
        };
        let sums = engine.segment_sums(&x, &segments)?;
        Ok(engine.fetch([&sums])?.concat())
    }
    fn work(&self) -> Work {
        let elements = (self.n_rows * self.n_cols) as u64;
        Work {
            elements,
            operations: 4 * elements,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 2000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |[n_rows, n_cols, count]: [usize; 3], weighted, squares, offset| {
        Box::new(SegmentSumsCase {
            n_rows,
            n_cols,
            count,
            weighted,
            squares,
            offset,
        }) as Box<dyn AnyCase>
    };
    vec![
        case([0, 3, 2], false, true, 0.0),
        case([1, 1, 1], false, false, 0.0),
        case([7, 3, 2], false, true, 0.0),
        case([255, 4, 3], true, true, 1e5),
        case([257, 5, 17], false, false, 1e5),
        case([300, 270, 4], true, false, 0.0),
        case([4096, 2, 9], true, true, 1e3),
        case([4097, 17, 2050], false, true, 0.0),
        case([9001, 6, 5], true, false, 1e4),
    ]
}
