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

/// How far the rounding of coefficients may move the intercept, in steps of the numbers about it.
const ROOM: f64 = 0.125;

/// Round coefficients, each to one of its two neighbours, such that `mean · weights` moves by less than `least`, if that can be: those
/// nearest to a tie go to the other side first, as long as each brings the sum nearer. What was between two numbers stays there.
fn round_about(x: &HostMatrix<'_>, weights: &mut [f64], mean: &[f64], least: f64) {
    struct Step {
        column: usize,
        other: f64,
        /// How much further away the other neighbour is, in steps: 0 at a tie.
        cost: f64,
        moves: f64,
    }
    let mut shift = 0.0;
    let mut steps = Vec::new();
    for (column, (weight, mean)) in weights.iter_mut().zip(mean).enumerate() {
        let exact = *weight;
        let [nearest, other] = x.neighbours(exact);
        let (off, step) = (nearest - exact, other - nearest);
        *weight = nearest;
        shift += mean * off;
        if step != 0.0 {
            let cost = 1.0 - 2.0 * (off / step).abs();
            steps.push(Step {
                column,
                other,
                cost,
                moves: mean * step,
            });
        }
    }
    steps.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    for step in steps {
        if shift.abs() < least {
            break;
        }
        if (shift + step.moves).abs() < shift.abs() {
            shift += step.moves;
            weights[step.column] = step.other;
        }
    }
}

/// Coefficients rounded as the caller will hold them, and the intercept that goes with them.
fn finish(fit: &Fit<'_>, mut coefficients: Vec<f64>, x_mean: &[f64], y_mean: &[f64]) -> Result<Fitted> {
    let mut intercept = vec![0.0; y_mean.len()];
    if fit.params.fit_intercept {
        let of = |weights: &[f64], mean: f64| {
            mean - weights
                .iter()
                .zip(x_mean)
                .map(|(weight, mean)| weight * mean)
                .sum::<f64>()
        };
        let targets = coefficients.chunks_exact_mut(fit.x.n_cols()).zip(y_mean);
        for (intercept, (weights, &mean)) in intercept.iter_mut().zip(targets) {
            let [nearest, other] = fit.x.neighbours(of(weights, mean));
            round_about(&fit.x, weights, x_mean, ROOM * (other - nearest).abs());
            *intercept = of(weights, mean);
        }
    } else {
        for value in &mut coefficients {
            *value = fit.x.rounded(*value);
        }
    }
    if coefficients
        .iter()
        .chain(&intercept)
        .any(|value| !fit.x.rounded(*value).is_finite())
    {
        return Err(Error::Unsuited {
            reason: "the coefficients overflow".into(),
        });
    }
    Ok(Fitted {
        coefficients,
        intercept,
        singular_values: Vec::new(),
    })
}

/// The inputs as an engine takes them.
fn inputs<'a>(fit: &Fit<'a>) -> [Input<'a>; 2] {
    [Input::finite(fit.x, "X").told(), Input::finite(fit.y, "y").told()]
}
