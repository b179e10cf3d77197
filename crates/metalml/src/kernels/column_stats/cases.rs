//! The inputs on which this kernel is tested and timed.

use super::reference;
use crate::Result;
use crate::engine::Frame;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct ColumnStatsCase {
    n_rows: usize,
    n_cols: usize,
    weighted: bool,
    odd: Odd,
    offset: f64,
}

/// What else there is among the values.
#[derive(Clone, Copy, PartialEq)]
enum Odd {
    No,
    /// NaN at every seventh place and in a whole column.
    Nan,
    /// A value far off here and there, and a NaN.
    Few,
}

impl ColumnStatsCase {
    fn values(&self) -> Vec<f64> {
        let mut values = uniform(self.n_rows * self.n_cols, 1);
        for value in &mut values {
            *value = if self.offset > 0.0 {
                // Float32 holds these exactly: a quarter is a multiple of its spacing there.
                (*value * 64.0).round() / 4.0 + self.offset
            } else {
                // Cubes have low bits that a float32 less the shift has not.
                f64::from((*value * *value * *value) as f32)
            };
        }
        if self.odd == Odd::Few {
            values
                .iter_mut()
                .step_by(997)
                .for_each(|value| *value = f64::from((*value + 1024.0) as f32));
            values
                .iter_mut()
                .skip(5)
                .step_by(1009)
                .for_each(|value| *value = f64::NAN);
        }
        if self.odd == Odd::Nan {
            values.iter_mut().step_by(7).for_each(|value| *value = f64::NAN);
            let column = values.iter_mut().skip(1).step_by(self.n_cols);
            column.for_each(|value| *value = f64::NAN);
        }
        values
    }

    fn weights(&self) -> Vec<f64> {
        uniform(self.n_rows, 2).iter().map(|weight| weight + 0.5).collect()
    }

    fn frame(&self) -> Frame {
        Frame {
            // Twice this is half a sixteenth away from the sixteenths that the GPU takes.
            shift: vec![self.offset + 17.0 / 64.0; self.n_cols],
            unit: vec![2.0; self.n_cols],
        }
    }
}

impl Case for ColumnStatsCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            n_cols,
            weighted,
            odd,
            offset,
        } = self;
        format!(
            "column_stats/{n_rows}x{n_cols}{}{}+{offset:e}",
            if *weighted { "w" } else { "" },
            match odd {
                Odd::No => "",
                Odd::Nan => "n",
                Odd::Few => "o",
            }
        )
    }
    fn expected(&self) -> Expected {
        let weights = self.weighted.then(|| self.weights());
        let Frame { shift, unit } = self.frame();
        let (mut values, range) = reference::column_stats(&self.values(), weights.as_deref(), &shift);
        for (col, unit) in unit.iter().enumerate() {
            values[self.n_cols + col] *= unit;
            values[2 * self.n_cols + col] *= unit * unit;
        }
        values.extend(range);
        // Each level of the tree of blocks, or of splits, rounds once; the sums are of terms up to 8.
        let roundings = 4.0 + (self.n_rows as f64).log2();
        let mut allowed: Vec<f64> = values.iter().map(|value| roundings * (value.abs() + 8.0)).collect();
        // A square about the shift, in floats, keeps 30 bits; what it loses is as often too much as too little.
        let [sums, offsets, scatters, _] = [0, 1, 2, 3].map(|part| part * self.n_cols);
        for col in 0..self.n_cols {
            let squares = values[scatters + col] + values[sums + col] * values[offsets + col].powi(2);
            allowed[scatters + col] += 16384.0 * squares / (self.n_rows as f64).sqrt();
        }
        Expected {
            values,
            allowed,
            wide: true,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let [x, weights] = resident(engine, [&self.values(), &self.weights()], self.n_rows, [self.n_cols, 1])?;
        let sums = engine.column_stats(&x, self.weighted.then_some(&weights), &self.frame())?;
        let [mut values] = engine.fetch([&sums.sums])?;
        let [range] = engine.fetch([&sums.range])?;
        values.extend(range);
        Ok(values)
    }
    fn work(&self) -> Work {
        let elements = (self.n_rows * self.n_cols) as u64;
        Work {
            elements,
            operations: 6 * elements,
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 2000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |n_rows, n_cols, weighted, odd, offset| {
        Box::new(ColumnStatsCase {
            n_rows,
            n_cols,
            weighted,
            odd,
            offset,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(1, 1, false, Odd::No, 0.0),
        case(7, 3, false, Odd::No, 0.0),
        case(63, 31, true, Odd::No, 0.0),
        case(64, 32, false, Odd::Nan, 0.0),
        case(65, 33, true, Odd::Nan, 0.0),
        case(1025, 5, false, Odd::No, 1e5),
        case(2048, 32, false, Odd::No, 0.0),
        case(4099, 17, true, Odd::Nan, 1e5),
        case(5003, 1, false, Odd::No, 0.0),
        case(9001, 2, false, Odd::No, 1e3),
        case(6007, 3, false, Odd::Few, 0.0),
        case(2500, 270, false, Odd::No, 0.0),
        case(3001, 30, false, Odd::Few, 0.0),
        case(20_001, 3, true, Odd::No, 1e3),
    ]
}
