//! The inputs on which this kernel is tested and timed.

use super::{Affine, reference};
use crate::Result;
use crate::engine::Real;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct ScaleShiftCase {
    n_rows: usize,
    n_cols: usize,
    inverse: bool,
    offset: f64,
}

impl ScaleShiftCase {
    fn values(&self) -> Vec<f64> {
        let mut values = uniform(self.n_rows * self.n_cols, 3);
        for value in &mut values {
            *value = f64::from(f32::from_f64(*value + self.offset));
        }
        values.iter_mut().step_by(11).for_each(|value| *value = f64::NAN);
        values
    }

    fn affine(&self) -> Affine {
        let offset = uniform(self.n_cols, 4)
            .iter()
            .map(|value| value + self.offset)
            .collect();
        let scale = uniform(self.n_cols, 5)
            .iter()
            .map(|value| (value + 1.0) * 1e-3)
            .collect();
        Affine {
            offset,
            scale,
            inverse: self.inverse,
        }
    }
}

impl Case for ScaleShiftCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            inverse,
            offset,
        } = self;
        format!(
            "scale_shift/{n_rows}x{n_cols}{}+{offset:e}",
            if *inverse { "inverse" } else { "" }
        )
    }
    fn expected(&self) -> Expected {
        let values = {
            let Affine { offset, scale, inverse } = self.affine();
            reference::scale_shift(&self.values(), &offset, &scale, inverse)
        };
        // Rounded once, and in f64 twice: half a unit, and a margin for the pairs.
        let allowed = values.iter().map(|value| 1.01 * value.abs() + 1e-30).collect();
        Expected {
            values,
            allowed,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, mut out] = resident(engine, [&self.values(), &self.values()], self.n_rows, [self.n_cols; 2])?;
        engine.scale_shift(&x, &self.affine(), &mut E::write(&mut out))?;
        engine.fetch_matrix(&out)
    }
    fn work(&self) -> Work {
        let elements = 2 * (self.n_rows * self.n_cols) as u64;
        Work {
            elements,
            operations: elements,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |n_rows, n_cols, inverse, offset| {
        Box::new(ScaleShiftCase {
            n_rows,
            n_cols,
            inverse,
            offset,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(1, 1, false, 0.0),
        case(5, 4, true, 0.0),
        case(67, 31, false, 1e5),
        case(64, 32, true, 1e3),
        case(129, 33, false, 0.0),
    ]
}
