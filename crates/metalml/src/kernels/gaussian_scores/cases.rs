//! The inputs on which this kernel is tested and timed.

use super::{Gaussians, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct ScoresCase {
    n_rows: usize,
    n_cols: usize,
    n_classes: usize,
    /// Of all values and means.
    offset: f64,
    /// Of their distances; weights are its inverse.
    spread: f64,
}

/// Rows, then means, weights and offsets of the Gaussians.
type Data = [Vec<f64>; 4];

impl ScoresCase {
    fn data(&self) -> Data {
        let narrow = |value: f64| f64::from(value as f32);
        let placed = |value: &f64| narrow(value * self.spread + self.offset);
        let (d, k) = (self.n_cols, self.n_classes);
        let x = uniform(self.n_rows * d, 31).iter().map(placed).collect();
        // Means have more digits than one float.
        let place = uniform(k * d, 32)
            .iter()
            .map(|value| value * self.spread + self.offset)
            .collect();
        let weight = uniform(k * d, 33)
            .iter()
            .map(|value| narrow((1.5 + value) / self.spread))
            .collect();
        [x, place, weight, uniform(k, 34)]
    }
}

impl Case for ScoresCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            n_classes,
            offset,
            spread,
        } = self;
        format!("gaussian_scores/{n_rows}x{n_cols}x{n_classes}+{offset:e}of{spread:e}")
    }
    fn expected(&self) -> Expected {
        let [x, place, weight, offset] = self.data();
        let of = Gaussians {
            place: &place,
            weight: &weight,
            offset: &offset,
        };
        let values = reference::gaussian_scores(&x, &of, self.n_cols);
        // Differences, products and squares round five times, and a sum that `lanes` threads share once a term of one of them.
        let terms = 5.0 + (self.n_cols as f64).sqrt();
        let allowed = values.iter().map(|value| terms * (value.abs() + 1.0)).collect();
        Expected {
            values,
            allowed,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, place, weight, offset] = self.data();
        let [x, mut out] = resident(
            engine,
            [&x, &vec![0.0; self.n_rows * self.n_classes]],
            self.n_rows,
            [self.n_cols, self.n_classes],
        )?;
        let of = Gaussians {
            place: &place,
            weight: &weight,
            offset: &offset,
        };
        engine.gaussian_scores(&x, &of, &mut E::write(&mut out))?;
        engine.fetch_matrix(&out)
    }
    fn work(&self) -> Work {
        let [n, d, k] = [self.n_rows, self.n_cols, self.n_classes].map(|len| len as u64);
        Work {
            elements: n * (d + k),
            operations: 4 * n * d * k,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |[n_rows, n_cols, n_classes]: [usize; 3], offset, spread| {
        Box::new(ScoresCase {
            n_rows,
            n_cols,
            n_classes,
            offset,
            spread,
        }) as Box<dyn AnyCase>
    };
    vec![
        case([1, 1, 1], 0.0, 1.0),
        case([9, 3, 2], 0.0, 1.0),
        case([65, 127, 3], 1e5, 1.0),
        case([33, 129, 5], 1e3, 1.0),
        case([300, 16, 4], 0.0, 1e25),
        case([300, 17, 4], 0.0, 1e-30),
        case([3000, 50, 2], 1.0, 1.0),
        case([20, 70, 90], 0.0, 1.0),
    ]
}
