//! The inputs on which this kernel is tested and timed.

use super::{Activation, Program, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct ElementwiseCase {
    n_rows: usize,
    n_cols: usize,
    activation: Activation,
    clip: bool,
    fill: bool,
    nan: bool,
}

impl ElementwiseCase {
    fn values(&self) -> Vec<f64> {
        let mut values = uniform(self.n_rows * self.n_cols, 51);
        if self.nan {
            values.iter_mut().step_by(5).for_each(|value| *value = f64::NAN);
        }
        values
    }

    /// What float32 holds exactly, so that rounding begins with the arithmetic.
    fn program(&self) -> Program {
        let grid = |seed, steps: f64| {
            let values = uniform(self.n_cols, seed);
            values
                .into_iter()
                .map(|value| (value * steps).round() / 8.0)
                .collect::<Vec<f64>>()
        };
        let positive = matches!(self.activation, Activation::Root | Activation::Logarithm);
        Program {
            shift: grid(52, 8.0),
            scale: grid(53, 8.0)
                .iter()
                .map(|scale| if positive { 0.25 } else { scale + 1.0 })
                .collect(),
            offset: grid(54, 16.0)
                .iter()
                .map(|offset| if positive { 2.0 } else { *offset })
                .collect(),
            fill: self.fill.then(|| grid(55, 8.0)),
            clip: self.clip.then_some([-0.25, 0.5]),
            activation: self.activation,
        }
    }
}

impl Case for ElementwiseCase {
    fn label(&self) -> String {
        let Self { n_rows, n_cols, .. } = self;
        let mark = |yes: bool, mark: &'static str| if yes { mark } else { "" };
        format!(
            "elementwise/{n_rows}x{n_cols}{:?}{}{}{}",
            self.activation,
            mark(self.clip, "c"),
            mark(self.fill, "f"),
            mark(self.nan, "n")
        )
    }
    fn expected(&self) -> Expected {
        let values = reference::elementwise(&self.values(), self.n_cols, &self.program());
        // Three roundings of numbers up to 4, and what WGSL grants the functions of such.
        let exact = matches!(self.activation, Activation::Above(_));
        let allowed = values
            .iter()
            .map(|value| if exact { 0.0 } else { 16.0 * value.abs() + 24.0 })
            .collect();
        Expected {
            values,
            allowed,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, mut out] = resident(engine, [&self.values(), &self.values()], self.n_rows, [self.n_cols; 2])?;
        engine.elementwise(&x, &self.program(), &mut E::write(&mut out))?;
        engine.fetch_matrix(&out)
    }
    fn work(&self) -> Work {
        let elements = (self.n_rows * self.n_cols) as u64;
        Work {
            elements: 2 * elements,
            operations: 3 * elements,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |[n_rows, n_cols]: [usize; 2], activation, clip, fill, nan| {
        Box::new(ElementwiseCase {
            n_rows,
            n_cols,
            activation,
            clip,
            fill,
            nan,
        }) as Box<dyn AnyCase>
    };
    vec![
        case([0, 3], Activation::Identity, false, false, false),
        case([1, 1], Activation::Identity, false, false, false),
        case([63, 3], Activation::Identity, true, true, true),
        case([257, 4], Activation::Relu, false, false, true),
        case([100, 5], Activation::Tanh, false, true, false),
        case([31, 33], Activation::Logistic, true, false, true),
        case([50, 2], Activation::Absolute, false, false, false),
        case([40, 17], Activation::Square, true, false, false),
        case([64, 8], Activation::Root, false, false, false),
        case([65, 7], Activation::Logarithm, false, false, true),
        case([30, 31], Activation::Exponential, false, true, true),
        case([300, 13], Activation::Above(0.125), false, false, true),
        case([3000, 20], Activation::Identity, true, false, false),
    ]
}
