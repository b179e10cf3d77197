//! The lasso and the elastic net: minimise `Σ w_r (y_r - W x_r - b)² / (2 Σ w_r) + l1 |W|₁ + l2 |W|² / 2`.
//!
//! Tibshirani (1996); Zou, Hastie (2005). The products of the columns are taken in one pass, and the rows are not looked at again.

use crate::engine::Border;
use crate::kernels::{Engine, Family, column_stats, gram};
use crate::matrix::HostMatrix;
use crate::run::Job;
use crate::solvers::descent::{Control, Problem, descend};
use crate::solvers::products::{Labelled, sums};
use crate::solvers::rounding::rounded_model;
use crate::{Error, Result};

/// What to fit.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Weight of the sum of sizes, not negative.
    pub l1: f64,
    /// Weight of the half sum of squares, not negative.
    pub l2: f64,
    /// Whether there is an intercept.
    pub fit_intercept: bool,
    /// Whether no coefficient may be below 0.
    pub positive: bool,
    /// The gap that is small enough, as a part of the squares of the targets.
    pub tolerance: f64,
    /// Passes over the coordinates at most.
    pub max_passes: usize,
}

/// Fit on the rows. Cost: two passes over them (one upload), n d² / 2 multiplications, and d² for each pass over the coordinates.
#[derive(Debug)]
pub struct Fit<'a> {
    /// Rows and targets.
    pub rows: Labelled<'a>,
    /// What to fit.
    pub params: Params,
    /// t by d: where to begin.
    pub start: Option<&'a [f64]>,
    /// One a target: draw the coordinates from these.
    pub seeds: Option<&'a [u32]>,
}

/// The model.
#[derive(Debug)]
pub struct Fitted {
    /// t by d, row-major, rounded to the element type of the rows.
    pub coefficients: Vec<f64>,
    /// t.
    pub intercept: Vec<f64>,
    /// t: what is left of the duality gap, over the sum of the weights.
    pub gap: Vec<f64>,
    /// t: what it had to come below.
    pub wanted: Vec<f64>,
    /// t: passes made.
    pub passes: Vec<usize>,
}

impl<'a> Job<'a> for Fit<'a> {
    type Output = Fitted;
    const FAMILIES: &'static [&'static Family] = &[&column_stats::FAMILY, &gram::FAMILY];

    fn element_of(&self) -> HostMatrix<'a> {
        self.rows.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<Fitted> {
        let (d, t) = (self.rows.x.n_cols(), self.rows.y.n_cols());
        for (what, found, expected) in [
            ("y", self.rows.y.n_rows(), self.rows.x.n_rows()),
            ("coef", self.start.map_or(t * d, <[f64]>::len), t * d),
            ("seed", self.seeds.map_or(t, <[u32]>::len), t),
        ] {
            if found != expected {
                return Err(Error::Shape { what, expected, found });
            }
        }
        let params = self.params;
        let sums = sums(engine, &self.rows, params.fit_intercept)?;
        let product = |row: usize, col: usize| sums.products[row * (d + t) + col];
        let gram: Vec<f64> = (0..d * d).map(|at| product(at / d, at % d)).collect();
        let of_y = &sums.of_y;
        // The sum of the squares of the targets, about the point that the products are about.
        let squares = |target: usize| {
            let about_mean = of_y.scatter[target];
            if params.fit_intercept {
                about_mean
            } else {
                about_mean + of_y.weight[target] * of_y.mean[target].powi(2)
            }
        };
        let weight = of_y.weight.first().copied().unwrap_or_default();
        let mut coefficients = self.start.map_or_else(|| vec![0.0; t * d], <[f64]>::to_vec);
        let (mut gap, mut wanted, mut passes) = (Vec::new(), Vec::new(), Vec::new());
        for (target, weights) in coefficients.chunks_exact_mut(d).enumerate() {
            let slope: Vec<f64> = (0..d).map(|col| product(col, d + target)).collect();
            let problem = Problem {
                gram: &gram,
                slope: &slope,
                target: squares(target),
                l1: params.l1 * weight,
                l2: params.l2 * weight,
                positive: params.positive,
            };
            let control = Control {
                tolerance: params.tolerance,
                max_passes: params.max_passes,
                seed: self.seeds.map(|seeds| seeds[target]),
            };
            let ended = descend(&problem, control, weights);
            gap.push(ended.gap / weight);
            wanted.push(ended.wanted / weight);
            passes.push(ended.passes);
        }
        let means = params
            .fit_intercept
            .then_some((&sums.of_x.mean[..], &sums.of_y.mean[..]));
        let (coefficients, intercept) = rounded_model(&self.rows.x, coefficients, t, means)?;
        Ok(Fitted {
            coefficients,
            intercept,
            gap,
            wanted,
            passes,
        })
    }
}
