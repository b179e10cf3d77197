//! A block of rows at a time, each value mapped in f64 and rounded once.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use super::{Activation, Program};
use crate::engine::Real;
use crate::engine::native_rows::part;
use crate::matrix::MatrixView;
use crate::threads::{for_each_chunk_apart, vectorized};

/// Elements of a task.
const TASK_LEN: usize = 1 << 16;

/// Writes what `program` makes of `x` to `out`.
pub(super) fn elementwise<T: Real>(x: MatrixView<'_, T>, program: &Program, out: &mut [T]) {
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    if out.is_empty() {
        return;
    }
    let rows_per_task = (TASK_LEN / n_cols).max(1);
    let work = out.len();
    for_each_chunk_apart(out, rows_per_task * n_cols, work, |task, out| {
        let mut scratch = Vec::new();
        let rows = x.rows(part(task, rows_per_task, n_rows));
        let values = rows.packed(&mut scratch);
        // One loop for each function, so that it can fill vectors.
        macro_rules! run {
            ($function:expr) => {
                vectorized(
                    #[inline(always)]
                    || {
                        for (row, out) in values.chunks_exact(n_cols).zip(out.chunks_exact_mut(n_cols)) {
                            map_row(row, program, out, $function);
                        }
                    },
                )
            };
        }
        match program.activation {
            Activation::Identity => run!(|value| value),
            Activation::Relu => run!(|value| if value > 0.0 { value } else { 0.0 }),
            Activation::Tanh => run!(f64::tanh),
            Activation::Logistic => run!(|value| 1.0 / (1.0 + (-value).exp())),
            Activation::Absolute => run!(f64::abs),
            Activation::Square => run!(|value| value * value),
            Activation::Root => run!(f64::sqrt),
            Activation::Logarithm => run!(f64::ln),
            Activation::Exponential => run!(f64::exp),
            Activation::Above(threshold) => run!(|value| if value > threshold { 1.0 } else { 0.0 }),
        }
    });
}

#[inline(always)]
fn map_row<T: Real>(row: &[T], program: &Program, out: &mut [T], function: impl Fn(f64) -> f64) {
    let [low, high] = program.clip.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    for (col, (&value, out)) in row.iter().zip(out).enumerate() {
        let mut value: f64 = value.into();
        if value.is_nan() {
            let Some(fill) = &program.fill else {
                *out = T::from_f64(value);
                continue;
            };
            value = fill[col];
        }
        let mapped = (value - program.shift[col]) * program.scale[col] + program.offset[col];
        *out = T::from_f64(function(mapped.clamp(low, high)));
    }
}
