//! Linear models as their caller will hold them: rounded, with an intercept that goes with what was rounded.

use crate::matrix::HostMatrix;
use crate::{Error, Result};

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

/// Coefficients of `n_targets` rows rounded to the type of `x`, and the intercepts that make them right at the means of `x` and of the
/// targets, their rounding included; intercepts of 0 without `means`.
pub fn rounded_model(
    x: &HostMatrix<'_>,
    mut coefficients: Vec<f64>,
    n_targets: usize,
    means: Option<(&[f64], &[f64])>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut intercept = vec![0.0; n_targets];
    if let Some((x_mean, y_mean)) = means {
        let of = |weights: &[f64], mean: f64| {
            mean - weights
                .iter()
                .zip(x_mean)
                .map(|(weight, mean)| weight * mean)
                .sum::<f64>()
        };
        let targets = coefficients.chunks_exact_mut(x.n_cols()).zip(y_mean);
        for (intercept, (weights, &mean)) in intercept.iter_mut().zip(targets) {
            let [nearest, other] = x.neighbours(of(weights, mean));
            round_about(x, weights, x_mean, ROOM * (other - nearest).abs());
            *intercept = of(weights, mean);
        }
    } else {
        for value in &mut coefficients {
            *value = x.rounded(*value);
        }
    }
    if coefficients
        .iter()
        .chain(&intercept)
        .any(|value| !x.rounded(*value).is_finite())
    {
        return Err(Error::Unsuited {
            reason: "the coefficients overflow".into(),
        });
    }
    Ok((coefficients, intercept))
}
