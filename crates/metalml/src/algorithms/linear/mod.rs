//! Predictions of every model with coefficients: `X Cᵀ + b`.

use crate::Result;
use crate::engine::{Border, Input, Rows};
use crate::kernels::column_stats::Frame;
use crate::kernels::matmul::Operand;
use crate::kernels::{Engine, Family, matmul};
use crate::matrix::{HostMatrix, HostMatrixMut};
use crate::run::Job;

/// Predictions for the rows of `x`. Cost: one pass over them.
#[derive(Debug)]
pub struct Predict<'a> {
    /// n by d, finite.
    pub x: HostMatrix<'a>,
    /// t by d, row-major.
    pub coefficients: &'a [f64],
    /// t.
    pub intercept: &'a [f64],
    /// n by t.
    pub out: HostMatrixMut<'a>,
}

impl<'a> Job<'a> for Predict<'a> {
    type Output = ();
    const FAMILIES: &'static [&'static Family] = &[&matmul::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<()> {
        let n_cols = self.x.n_cols();
        // Far from the origin a raw product is a difference of large numbers: near the rows it is not.
        let shift = Frame::sampled(&self.x).shift;
        let moved = |weights: &[f64]| weights.iter().zip(&shift).map(|(weight, shift)| weight * shift).sum::<f64>();
        let bias = self.coefficients.chunks_exact(n_cols).zip(self.intercept).map(|(weights, b)| b + moved(weights));
        let bias = engine.upload_elem(&bias.collect::<Vec<_>>())?;
        let elements: Vec<E::Elem> = self.coefficients.iter().map(|&value| crate::engine::Real::from_f64(value)).collect();
        let [coefficients] = engine.resident([&elements], self.intercept.len(), [n_cols])?;
        let shift = engine.upload_elem(&shift)?;
        let rows = Rows::Apart(Input::finite(self.x, "X"), self.out);
        engine.stream(rows, |x, out| {
            engine.matmul(Operand::Plain(x), Some(&shift), Operand::Transposed(&coefficients), Some(&bias), out)
        })
    }
}
