//! What a program means, in plain f64.

use super::{Activation, Program};

/// What `program` makes of row-major `x`.
pub(super) fn elementwise(x: &[f64], n_cols: usize, program: &Program) -> Vec<f64> {
    let of = |(at, &value): (usize, &f64)| {
        let col = at % n_cols;
        let value = match &program.fill {
            Some(fill) if value.is_nan() => fill[col],
            _ => value,
        };
        if value.is_nan() {
            return value;
        }
        let mut mapped = (value - program.shift[col]) * program.scale[col] + program.offset[col];
        if let Some([low, high]) = program.clip {
            mapped = mapped.max(low).min(high);
        }
        match program.activation {
            Activation::Identity => mapped,
            Activation::Relu => mapped.max(0.0),
            Activation::Tanh => mapped.tanh(),
            Activation::Logistic => 1.0 / (1.0 + (-mapped).exp()),
            Activation::Absolute => mapped.abs(),
            Activation::Square => mapped * mapped,
            Activation::Root => mapped.sqrt(),
            Activation::Logarithm => mapped.ln(),
            Activation::Exponential => mapped.exp(),
            Activation::Above(threshold) => f64::from(u8::from(mapped > threshold)),
        }
    };
    x.iter().enumerate().map(of).collect()
}
