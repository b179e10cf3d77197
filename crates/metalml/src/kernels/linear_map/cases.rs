//! The inputs on which this kernel is tested and timed.

use super::reference;
use crate::Result;
use crate::engine::Real;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct LinearMapCase {
    n_rows: usize,
    n_cols: usize,
    n_targets: usize,
    offset: f64,
}

impl LinearMapCase {
    /// Rows far from the origin, weights, and offsets that bring most of the sum back.
    fn data(&self) -> [Vec<f64>; 3] {
        let narrow = |value: f64| f64::from(f32::from_f64(value));
        let x: Vec<f64> = uniform(self.n_rows * self.n_cols, 15)
            .iter()
            .map(|value| narrow(value + self.offset))
            .collect();
        let weights = uniform(self.n_targets * self.n_cols, 16);
        let offset = weights
            .chunks_exact(self.n_cols)
            .map(|weights| -self.offset * weights.iter().sum::<f64>());
        let offset = offset
            .zip(uniform(self.n_targets, 17))
            .map(|(offset, more)| offset + more)
            .collect();
        [x, weights, offset]
    }
}

impl Case for LinearMapCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            n_targets,
            offset,
        } = self;
        format!("linear_map/{n_rows}x{n_cols}x{n_targets}+{offset:e}")
    }
    fn expected(&self) -> Expected {
        let [x, weights, offset] = self.data();
        let values = reference::linear_map(&x, &weights, &offset, self.n_cols);
        // Rounded once; the wide sums of terms up to `offset` are off by far less on the GPU, and in f64 by their own rounding.
        let terms = (1.0 + self.offset) * (self.n_cols as f64 + 2.0);
        let allowed = values.iter().map(|value| 0.51 * value.abs() + terms * 1e-6).collect();
        Expected {
            values,
            allowed,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, weights, offset] = self.data();
        let [x, mut out] = resident(
            engine,
            [&x, &vec![0.0; self.n_rows * self.n_targets]],
            self.n_rows,
            [self.n_cols, self.n_targets],
        )?;
        let [weights] = resident(engine, [&weights], self.n_targets, [self.n_cols])?;
        let offset = engine.upload(&offset.into_iter().map(E::wide).collect::<Vec<_>>())?;
        engine.linear_map(&x, &weights, &offset, &mut E::write(&mut out))?;
        engine.fetch_matrix(&out)
    }
    fn work(&self) -> Work {
        let [n, d, t] = [self.n_rows, self.n_cols, self.n_targets].map(|len| len as u64);
        Work {
            elements: n * (d + t),
            operations: 2 * n * d * t,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |n_rows, n_cols, n_targets, offset| {
        Box::new(LinearMapCase {
            n_rows,
            n_cols,
            n_targets,
            offset,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(1, 1, 1, 0.0),
        case(9, 3, 2, 0.0),
        case(65, 127, 1, 1e5),
        case(33, 129, 5, 1e3),
        case(257, 32, 4, 0.0),
        case(3000, 50, 1, 0.0),
        case(20, 70, 90, 0.0),
    ]
}
