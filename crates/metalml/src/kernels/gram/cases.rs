//! The inputs on which this kernel is tested and timed.

use super::{Framed, reference};
use crate::Result;
use crate::engine::Frame;
use crate::kernels::Engine;
use crate::testing::{AnyCase, Case, Expected, Work, resident, uniform};

struct GramCase {
    n_rows: usize,
    x_cols: usize,
    y_cols: usize,
    weighted: bool,
}

impl GramCase {
    fn data(&self) -> [Vec<f64>; 3] {
        let weights = uniform(self.n_rows, 8).iter().map(|weight| weight + 0.5).collect();
        [
            uniform(self.n_rows * self.x_cols, 6),
            uniform(self.n_rows * self.y_cols, 7),
            weights,
        ]
    }

    fn shifts(&self) -> [Vec<f64>; 2] {
        [uniform(self.x_cols, 9), uniform(self.y_cols, 10)]
    }
}

impl Case for GramCase {
    fn label(&self) -> String {
        let Self {
            n_rows,
            x_cols,
            y_cols,
            weighted,
        } = self;
        format!("gram/{n_rows}x{x_cols}+{y_cols}{}", if *weighted { "w" } else { "" })
    }
    fn expected(&self) -> Expected {
        let ([x, y, weights], [x_shift, y_shift]) = (self.data(), self.shifts());
        let mut values = reference::gram(&x, &x_shift, &y, &y_shift, self.weighted.then_some(&weights[..]));
        // Columns of `x` are seen twice as large.
        let n_cols = self.x_cols + self.y_cols;
        let unit = |col: usize| if col < self.x_cols { 2.0 } else { 1.0 };
        values
            .iter_mut()
            .enumerate()
            .for_each(|(at, value)| *value *= unit(at / n_cols) * unit(at % n_cols));
        // Terms up to 4, each rounded a few times, and float32 sums of at most 128 of them. The low bits of squares of 24-bit
        // numbers are not even: sums of them in f64 lean down, by some 30 epsilons over 500 rows.
        let length = (self.n_rows as f64).min(128.0);
        let root = length.sqrt();
        let allowed = values
            .iter()
            .map(|value| 16.0 * root + 16.0 + (4.0 + root) * value.abs())
            .collect();
        Expected {
            values,
            allowed,
            wide: false,
            leeway: ((self.n_rows as f64) / length).sqrt(),
        }
    }
    fn run<E: Engine>(&self, engine: &E) -> Result<Vec<f64>> {
        let ([x, y, weights], [x_shift, y_shift]) = (self.data(), self.shifts());
        let [x, y, weights] = resident(engine, [&x, &y, &weights], self.n_rows, [self.x_cols, self.y_cols, 1])?;
        let weights = self.weighted.then_some(&weights);
        let x_frame = Frame {
            shift: x_shift,
            unit: vec![2.0; self.x_cols],
        };
        let y_frame = Frame {
            shift: y_shift,
            unit: vec![1.0; self.y_cols],
        };
        let products = engine.gram(Framed(&x, &x_frame), Framed(&y, &y_frame), weights)?;
        Ok(engine.fetch([&products])?.concat())
    }
    fn work(&self) -> Work {
        let [n, d, t] = [self.n_rows, self.x_cols, self.y_cols].map(|len| len as u64);
        Work {
            elements: n * (d + t),
            operations: n * d * (d + 1 + 2 * t),
        }
    }
    fn in_self_test(&self) -> bool {
        self.n_rows > 1 && self.n_rows < 1000
    }
}

pub(super) fn cases() -> Vec<Box<dyn AnyCase>> {
    let case = |n_rows, x_cols, y_cols, weighted| {
        Box::new(GramCase {
            n_rows,
            x_cols,
            y_cols,
            weighted,
        }) as Box<dyn AnyCase>
    };
    vec![
        case(1, 1, 1, false),
        case(15, 7, 1, false),
        case(16, 8, 1, true),
        case(17, 9, 3, false),
        case(333, 33, 2, true),
        case(2049, 32, 1, false),
        case(120_000, 3, 1, false),
        case(130, 127, 1, false),
        case(300, 100, 2, true),
        case(65, 130, 5, true),
        // In pieces where bindings are small.
        case(400, 130, 5, false),
        case(40, 257, 131, false),
    ]
}
