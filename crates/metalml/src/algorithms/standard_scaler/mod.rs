//! Centre and scale each column.
//!
//! `fit` gives what scikit-learn's incremental formula takes in: the weight, mean and variance of the rows at hand.

use crate::Result;
use crate::engine::{Border, Input, Rows};
use crate::kernels::scale_shift::Affine;
use crate::kernels::{Engine, Family, column_stats, scale_shift};
use crate::matrix::HostMatrix;
use crate::run::Job;
use crate::solvers::moments::{Moments, moments};

/// The statistics of columns, NaN left out. Cost: one pass over `x`.
#[derive(Debug)]
pub struct Statistics<'a> {
    /// n by d; NaN welcome.
    pub x: HostMatrix<'a>,
    /// n by 1, of the same element type.
    pub weights: Option<HostMatrix<'a>>,
}

impl<'a> Job<'a> for Statistics<'a> {
    type Output = Moments;
    const FAMILIES: &'static [&'static Family] = &[&column_stats::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<Moments> {
        let x = Input::finite(self.x, "X").with_nan().told();
        let Some(weights) = self.weights else {
            let [matrix] = engine.bring([x])?;
            return moments(engine, &matrix, &x, None);
        };
        let [matrix, weights] = engine.bring([x, Input::finite(weights, "sample_weight")])?;
        moments(engine, &matrix, &x, Some(&weights))
    }
}

/// Rows scaled and shifted. Cost: one pass over them.
#[derive(Debug)]
pub struct Scale<'a> {
    /// What goes in and where it comes out; NaN passes through.
    pub rows: Rows<'a>,
    /// What is done to each column.
    pub affine: Affine,
    /// A matrix of the element type to compute in.
    pub element: HostMatrix<'a>,
}

impl<'a> Job<'a> for Scale<'a> {
    type Output = ();
    const FAMILIES: &'static [&'static Family] = &[&scale_shift::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.element
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<()> {
        engine.stream(self.rows, |x, out| engine.scale_shift(x, &self.affine, out))
    }
}
