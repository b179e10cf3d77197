//! The inputs on which this kernel is tested and timed.

use super::{RowNorm, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct NormalizeRowsCase {
    n_rows: usize,
    n_cols: usize,
    norm: RowNorm,
    size: f64,
}

impl NormalizeRowsCase {
    fn values(&self) -> Vec<f64> {
        let mut values: Vec<f64> = uniform(self.n_rows * self.n_cols, 43)
            .iter()
            .map(|value| f64::from((value * self.size) as f32))
            .collect();
        if self.n_rows > 2 {
            values[self.n_cols..2 * self.n_cols].fill(0.0);
        }
        values
    }
}

impl Case for NormalizeRowsCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            norm,
            size,
        } = self;
        format!("normalize_rows/{n_rows}x{n_cols}{norm:?}*{size:e}")
    }
    fn expected(&self) -> Expected {
        let values = reference::normalize_rows(&self.values(), self.n_cols, self.norm);
        // The norm is off by half a unit a term, at the most.
        let roundings = 4.0 + self.n_cols as f64 / 2.0;
        let allowed = values.iter().map(|value| roundings * value.abs()).collect();
        Expected {
            values,
            allowed,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, mut out] = resident(engine, [&self.values(), &self.values()], self.n_rows, [self.n_cols; 2])?;
        engine.normalize_rows(&x, self.norm, &mut E::write(&mut out))?;
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
    let case = |[n_rows, n_cols]: [usize; 2], norm, size| {
        Box::new(NormalizeRowsCase {
            n_rows,
            n_cols,
            norm,
            size,
        }) as Box<dyn AnyCase>
    };
    vec![
        case([0, 3], RowNorm::L2, 1.0),
        case([1, 1], RowNorm::L2, 1.0),
        case([257, 3], RowNorm::L1, 1e25),
        case([130, 4], RowNorm::L2, 1e-30),
        case([66, 129], RowNorm::L2, 1e25),
        case([65, 31], RowNorm::Max, 1e30),
        case([40, 128], RowNorm::L1, 1e-30),
        case([3000, 7], RowNorm::L2, 1.0),
    ]
}
