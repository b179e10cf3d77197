//! Predictions of every model with coefficients: `X Cᵀ + b`.

use crate::Result;
use crate::engine::{Border, Input, Real, Rows};
use crate::kernels::{Engine, Family, linear_map};
use crate::matrix::{HostMatrix, HostMatrixMut};
use crate::run::Job;

/// Predictions for the rows of `x`, each sum rounded once: a row's do not depend on the rows beside it. Cost: one pass over them.
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
    const FAMILIES: &'static [&'static Family] = &[&linear_map::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<()> {
        let n_cols = self.x.n_cols();
        let elements: Vec<E::Elem> = self
            .coefficients
            .iter()
            .map(|&value| E::Elem::from_f64(value))
            .collect();
        let [coefficients] = engine.resident([&elements], self.intercept.len(), [n_cols])?;
        let offset: Vec<E::Wide> = self.intercept.iter().map(|&value| E::wide(value)).collect();
        let offset = engine.upload(&offset)?;
        let rows = Rows::Apart(Input::finite(self.x, "X").told(), self.out);
        engine.stream(rows, |x, out| engine.linear_map(x, &coefficients, &offset, out))
    }
}
