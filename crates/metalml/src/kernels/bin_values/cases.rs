//! The inputs on which this kernel is tested and timed.

use super::{Bins, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct BinValuesCase {
    n_rows: usize,
    n_cols: usize,
    thresholds: usize,
}

impl BinValuesCase {
    fn values(&self) -> Vec<f64> {
        let mut values: Vec<f64> = uniform(self.n_rows * self.n_cols, 91)
            .iter()
            .map(|value| (value * 512.0).round() / 512.0)
            .collect();
        values
            .iter_mut()
            .skip(1)
            .step_by(19)
            .for_each(|value| *value = f64::NAN);
        values.iter_mut().skip(3).step_by(23).for_each(|value| *value = -0.0);
        values
    }

    /// Some are values, some lie just beside one, and one column may have none.
    fn bins(&self) -> Bins {
        let column = |col: usize| {
            let len = if col == 1 { 0 } else { self.thresholds };
            let mut thresholds: Vec<f64> = uniform(len, 92 + col as u64)
                .iter()
                .enumerate()
                .map(|(at, value)| (value * 512.0).round() / 512.0 + [0.0, 1e-12, -1e-12][at % 3])
                .collect();
            thresholds.sort_by(f64::total_cmp);
            thresholds
        };
        Bins {
            thresholds: (0..self.n_cols).map(column).collect(),
            missing: 255,
        }
    }
}

impl Case for BinValuesCase {
    fn label(&self) -> String {
        format!("bin_values/{}x{}in{}", self.n_rows, self.n_cols, self.thresholds)
    }
    fn expected(&self) -> Expected {
        let found = reference::bin_values(&self.values(), &self.bins());
        Expected {
            allowed: vec![0.0; found.len()],
            values: found.into_iter().map(f64::from).collect(),
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x] = resident(engine, [&self.values()], self.n_rows, [self.n_cols])?;
        Ok(engine.fetch([&engine.bin_values(&x, &self.bins())?])?.concat())
    }
    fn work(&self) -> Work {
        let elements = (self.n_rows * self.n_cols) as u64;
        Work {
            elements,
            operations: 8 * elements,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |n_rows, n_cols, thresholds| {
        Box::new(BinValuesCase {
            n_rows,
            n_cols,
            thresholds,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(0, 3, 2),
        case(1, 1, 1),
        case(255, 4, 255),
        case(257, 5, 3),
        case(100, 2, 0),
        case(2001, 11, 64),
    ]
}
