//! The inputs on which this kernel is tested and timed.

use super::reference;
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct TopKRowsCase {
    n_rows: usize,
    n_cols: usize,
    k: usize,
    greatest: bool,
    /// How many different values there are, about.
    steps: f64,
}

impl TopKRowsCase {
    fn values(&self) -> Vec<f64> {
        let mut values: Vec<f64> = uniform(self.n_rows * self.n_cols, 71)
            .iter()
            .map(|value| (value * self.steps).round())
            .collect();
        values
            .iter_mut()
            .skip(2)
            .step_by(11)
            .for_each(|value| *value = f64::NAN);
        values.iter_mut().skip(5).step_by(17).for_each(|value| *value = -0.0);
        values
    }
}

impl Case for TopKRowsCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            k,
            greatest,
            steps,
        } = self;
        let which = if *greatest { "greatest" } else { "least" };
        format!("top_k_rows/{k}{which}of{n_rows}x{n_cols}/{steps}")
    }
    fn expected(&self) -> Expected {
        let (values, indices) = reference::top_k_rows(&self.values(), self.n_cols, self.k, self.greatest);
        let values = [values, indices].concat();
        Expected {
            allowed: vec![0.0; values.len()],
            values,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x] = resident(engine, [&self.values()], self.n_rows, [self.n_cols])?;
        let found = engine.top_k_rows(&x, self.k, self.greatest)?;
        let ([values], [indices]) = (engine.fetch([&found.values])?, engine.fetch([&found.indices])?);
        Ok([values, indices].concat())
    }
    fn work(&self) -> Work {
        let elements = (self.n_rows * self.n_cols) as u64;
        Work {
            elements,
            operations: 8 * elements,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_cols < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |k, [n_rows, n_cols]: [usize; 2], greatest, steps| {
        Box::new(TopKRowsCase {
            n_rows,
            n_cols,
            k,
            greatest,
            steps,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(2, [0, 3], false, 10.0),
        case(1, [1, 1], false, 10.0),
        case(3, [50, 5], true, 4.0),
        case(10, [20, 255], false, 1e6),
        case(10, [9, 257], true, 20.0),
        case(256, [5, 256], false, 50.0),
        case(300, [4, 1500], false, 1e7),
        case(1024, [3, 3001], true, 300.0),
        case(32, [200, 100], false, 1e3),
    ]
}
