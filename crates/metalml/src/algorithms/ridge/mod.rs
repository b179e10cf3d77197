//! Ridge regression: minimise `Σ w_r |y_r - W x_r - b|² + Σ_t alpha_t |W_t|²`.
//!
//! Hoerl, Kennard (1970), Technometrics 12. Tall data go by the normal equations, `(Xᵀ X + alpha I) W = Xᵀ Y`; wide data by the dual,
//! `W = Xᵀ (X Xᵀ + alpha I)⁻¹ Y` (Saunders, Gammerman, Vovk 1998, section 2). Products are taken about a point near the rows and moved
//! to their exact mean in f64, where the system is solved; so an offset of the data costs nothing.

mod dual;
mod least_squares;
mod primal;

use crate::engine::{Border, Input};
use crate::kernels::{Engine, Family, column_stats, gram, linear_map, matmul, scale_shift};
use crate::matrix::HostMatrix;
use crate::run::Job;
use crate::solvers::products::Labelled;
use crate::solvers::rounding::rounded_model;
use crate::{Error, Result};

/// What to fit, checked.
#[derive(Clone, Debug)]
pub struct Params {
    alpha: Vec<f64>,
    fit_intercept: bool,
}

impl Params {
    /// One positive `alpha` a target.
    pub fn new(alpha: Vec<f64>, fit_intercept: bool) -> Result<Self> {
        if let Some(&value) = alpha.iter().find(|alpha| !(**alpha > 0.0 && alpha.is_finite())) {
            return Err(Error::InvalidParam {
                name: "alpha",
                value,
                allowed: "positive and finite",
            });
        }
        Ok(Self { alpha, fit_intercept })
    }

    /// No penalty: ordinary least squares for rows that outnumber the columns.
    #[must_use]
    pub fn least_squares(n_targets: usize, fit_intercept: bool) -> Self {
        Self {
            alpha: vec![0.0; n_targets],
            fit_intercept,
        }
    }

    fn is_least_squares(&self) -> bool {
        self.alpha.iter().all(|&alpha| alpha == 0.0)
    }
}

/// The model.
#[derive(Debug)]
pub struct Fitted {
    /// t by d, row-major, rounded to the element type of `x`.
    pub coefficients: Vec<f64>,
    /// t; what makes these coefficients right at the mean, their rounding included. Zero without an intercept.
    pub intercept: Vec<f64>,
    /// Of the rows about their mean, or about 0 without an intercept, greatest first; only of least squares.
    pub singular_values: Vec<f64>,
}

/// Fit on the rows of `x`. Cost: two passes over them (one upload), n d² multiplications for tall data, n² d for wide.
#[derive(Debug)]
pub struct Fit<'a> {
    /// n by d, finite.
    pub x: HostMatrix<'a>,
    /// n by t, finite, of the same element type.
    pub y: HostMatrix<'a>,
    /// n by 1, not negative, of the same element type.
    pub weights: Option<HostMatrix<'a>>,
    /// What to fit.
    pub params: Params,
}

impl<'a> Fit<'a> {
    fn rows(&self) -> Labelled<'a> {
        Labelled {
            x: self.x,
            y: self.y,
            weights: self.weights,
        }
    }
}

impl<'a> Job<'a> for Fit<'a> {
    type Output = Fitted;
    const FAMILIES: &'static [&'static Family] = &[
        &column_stats::FAMILY,
        &gram::FAMILY,
        &linear_map::FAMILY,
        &matmul::FAMILY,
        &scale_shift::FAMILY,
    ];

    fn element_of(&self) -> HostMatrix<'a> {
        self.x
    }

    fn run<E: Engine + Border<'a>>(self, engine: &E) -> Result<Fitted> {
        let (n_rows, n_targets) = (self.x.n_rows(), self.params.alpha.len());
        for (what, found, expected) in [("y", self.y.n_rows(), n_rows), ("alpha", n_targets, self.y.n_cols())] {
            if found != expected {
                return Err(Error::Shape { what, expected, found });
            }
        }
        if self.params.is_least_squares() {
            if n_rows <= self.x.n_cols() {
                let reason = format!(
                    "{n_rows} rows and {} columns: the answer of least norm is wanted",
                    self.x.n_cols()
                );
                return Err(Error::Unsuited { reason });
            }
            least_squares::fit(engine, &self)
        } else if n_rows < self.x.n_cols() {
            dual::fit(engine, &self)
        } else {
            primal::fit(engine, &self)
        }
    }
}

/// The sum of products of float32 rows is off by about this part of itself.
const FLOAT32_ERROR: f64 = 1e-7;
/// How far off coefficients may be before scikit-learn is asked instead: it has the same data but other ways to solve.
const MOST_ERROR: f64 = 1e-2;
/// The condition beyond which float64 has no more than three digits left.
const FLOAT64_CONDITION: f64 = 1e12;

/// Whether a system of this condition gives answers worth having. `share` is how much of the matrix is a sum that was rounded.
fn judge(condition: f64, share: f64, epsilon: f64) -> Result<()> {
    let limit = if epsilon > 1e-10 {
        (MOST_ERROR / FLOAT32_ERROR / share).min(FLOAT64_CONDITION)
    } else {
        FLOAT64_CONDITION
    };
    if condition < limit {
        return Ok(());
    }
    let precision = if epsilon > 1e-10 { "float32" } else { "float64" };
    let reason = format!(
        "the system is ill-conditioned for {precision}: its condition is {condition:.1e}, the limit is {limit:.1e}"
    );
    Err(Error::Unsuited { reason })
}

fn unsuited(error: Error) -> Error {
    match error {
        Error::NotPositiveDefinite { pivot } => {
            let reason =
                format!("the system is ill-conditioned: in this precision it is not positive definite (pivot {pivot})");
            Error::Unsuited { reason }
        }
        other => other,
    }
}

/// Coefficients rounded as the caller will hold them, and the intercept that goes with them.
fn finish(fit: &Fit<'_>, coefficients: Vec<f64>, x_mean: &[f64], y_mean: &[f64]) -> Result<Fitted> {
    let means = fit.params.fit_intercept.then_some((x_mean, y_mean));
    let (coefficients, intercept) = rounded_model(&fit.x, coefficients, y_mean.len(), means)?;
    Ok(Fitted {
        coefficients,
        intercept,
        singular_values: Vec::new(),
    })
}

/// The inputs as an engine takes them.
fn inputs<'a>(fit: &Fit<'a>) -> [Input<'a>; 2] {
    fit.rows().inputs()
}
