//! The inputs on which this kernel is tested and timed.

use super::{RowStat, reference};
use crate::Result;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct RowStatsCase {
    n_rows: usize,
    n_cols: usize,
    stat: RowStat,
    size: f64,
    /// NaN here and there.
    nan: bool,
}

impl RowStatsCase {
    fn values(&self) -> Vec<f64> {
        let mut values: Vec<f64> = uniform(self.n_rows * self.n_cols, 41)
            .iter()
            // So coarse that rows hold equal values.
            .map(|value| f64::from(((value * 64.0).round() * self.size) as f32))
            .collect();
        if self.n_rows > 2 {
            values[self.n_cols..2 * self.n_cols].fill(0.0);
        }
        if self.nan {
            values
                .iter_mut()
                .skip(3)
                .step_by(131)
                .for_each(|value| *value = f64::NAN);
        }
        values
    }
}

impl Case for RowStatsCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            stat,
            size,
            nan,
        } = self;
        format!(
            "row_stats/{n_rows}x{n_cols}{stat:?}{}*{size:e}",
            if *nan { "n" } else { "" }
        )
    }
    fn expected(&self) -> Expected {
        let (values, indices) = reference::row_stats(&self.values(), self.n_cols, self.stat);
        let largest = 33.0
            * self.size
            * if self.stat == RowStat::Squares {
                33.0 * self.size
            } else {
                1.0
            };
        let exact = matches!(self.stat, RowStat::Least | RowStat::Greatest | RowStat::Max);
        let terms = self.n_cols as f64;
        let allowed = values.iter().map(|value| {
            if exact {
                0.0
            } else {
                (terms + 4.0) * value.abs() + terms * largest
            }
        });
        let allowed = allowed.chain(indices.iter().map(|_| 0.0)).collect();
        Expected {
            values: [values, indices].concat(),
            allowed,
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x] = resident(engine, [&self.values()], self.n_rows, [self.n_cols])?;
        let found = engine.row_stats(&x, self.stat)?;
        let ([values], [indices]) = (engine.fetch([&found.values])?, engine.fetch([&found.indices])?);
        Ok([values, indices].concat())
    }
    fn work(&self) -> Work {
        let elements = (self.n_rows * self.n_cols) as u64;
        Work {
            elements,
            operations: 2 * elements,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |[n_rows, n_cols]: [usize; 2], stat, size, nan| {
        Box::new(RowStatsCase {
            n_rows,
            n_cols,
            stat,
            size,
            nan,
        }) as Box<dyn AnyCase>
    };
    vec![
        case([0, 3], RowStat::Sum, 1.0, false),
        case([1, 1], RowStat::Sum, 1.0, false),
        case([257, 4], RowStat::Sum, 1.0, false),
        case([255, 5], RowStat::Squares, 1.0, false),
        case([130, 3], RowStat::Least, 1.0, true),
        case([100, 129], RowStat::Least, 1e25, false),
        case([63, 31], RowStat::Greatest, 1.0, true),
        case([300, 8], RowStat::Greatest, 1e-30, false),
        case([64, 33], RowStat::L1, 1e25, false),
        case([65, 127], RowStat::L2, 1e25, false),
        case([50, 128], RowStat::L2, 1e-30, false),
        case([70, 2], RowStat::L2, 1e-30, false),
        case([9, 1000], RowStat::Max, 1.0, false),
        case([2000, 17], RowStat::L2, 1.0, false),
    ]
}
