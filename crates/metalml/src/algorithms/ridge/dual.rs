//! Wide data: the dual, over panels of columns, so that no second copy of the data is needed.

use std::ops::Range;

use super::{Fit, Fitted, finish, inputs, judge, unsuited};
use crate::engine::{Border, Input, Real};
use crate::kernels::Engine;
use crate::kernels::matmul::{Operand, Terms};
use crate::kernels::scale_shift::Affine;
use crate::solvers::cholesky::Factor;
use crate::solvers::moments::moments;
use crate::{Error, Result};

/// The squares of these, and sums of them, are normal float32 numbers.
const SQUARES: std::ops::Range<f64> = 1e-15..1e15;
/// Elements of a centred panel.
const PANEL: usize = 4 << 20;

pub(super) fn fit<'a, E: Engine + Border<'a>>(engine: &E, fit: &Fit<'a>) -> Result<Fitted> {
    let (n, d, t) = (fit.x.n_rows(), fit.x.n_cols(), fit.y.n_cols());
    let [x_input, y_input] = inputs(fit);
    let weights: Option<Vec<f64>> = fit
        .weights
        .map(|weights| (0..n).map(|row| weights.get(row, 0)).collect());
    let [y] = engine.bring([y_input])?;
    let of_y = centre(engine, &y, &y_input, fit)?;
    let targets: Vec<f64> = (0..n * t).map(|at| fit.y.get(at / t, at % t) - of_y[at % t]).collect();

    let mut x_mean = Vec::with_capacity(d);
    let mut kernel = vec![0.0; n * n];
    for panel in panels(n, d) {
        let input = Input {
            host: fit.x.cols(panel),
            ..x_input
        };
        let [x] = engine.bring([input])?;
        let mean = centre(engine, &x, &input, fit)?;
        let centred = centred(engine, &x, n, &mean)?;
        let mut part = engine.create(n, n)?;
        engine.matmul(
            Operand::Plain(&centred),
            Operand::Transposed(&centred),
            &Terms::default(),
            &mut E::write(&mut part),
        )?;
        kernel
            .iter_mut()
            .zip(engine.fetch_matrix(&part)?)
            .for_each(|(sum, part)| *sum += part);
        x_mean.extend(mean);
    }
    if kernel.iter().any(|value| !value.is_finite()) {
        return Err(Error::Unsuited {
            reason: "X holds values whose squares are too large to sum".into(),
        });
    }
    let duals = solve(kernel, targets, weights.as_deref(), fit, E::Elem::EPSILON)?;

    let elements: Vec<E::Elem> = duals.iter().map(|&value| E::Elem::from_f64(value)).collect();
    let [duals] = engine.resident([&elements], n, [t])?;
    let mut coefficients = vec![0.0; t * d];
    for panel in panels(n, d) {
        let [x] = engine.bring([Input {
            host: fit.x.cols(panel.clone()),
            ..x_input
        }])?;
        let centred = centred(engine, &x, n, &x_mean[panel.clone()])?;
        let mut part = engine.create(panel.len(), t)?;
        engine.matmul(
            Operand::Transposed(&centred),
            Operand::Plain(&duals),
            &Terms::default(),
            &mut E::write(&mut part),
        )?;
        for (row, values) in panel.zip(engine.fetch_matrix(&part)?.chunks_exact(t)) {
            values
                .iter()
                .enumerate()
                .for_each(|(target, &value)| coefficients[target * d + row] = value);
        }
    }
    finish(fit, coefficients, &x_mean, &of_y)
}

fn panels(n_rows: usize, n_cols: usize) -> impl Iterator<Item = Range<usize>> {
    let width = (PANEL / n_rows.max(1)).max(1);
    (0..n_cols)
        .step_by(width)
        .map(move |start| start..(start + width).min(n_cols))
}

/// Where the columns are moved to: their mean, or with no intercept the origin; either way they have been looked at.
fn centre<'a, E: Engine + Border<'a>>(engine: &E, x: &E::Matrix, input: &Input<'a>, fit: &Fit<'a>) -> Result<Vec<f64>> {
    let weights = match fit.weights {
        Some(weights) => {
            let [weights] = engine.bring([Input::finite(weights, "sample_weight")])?;
            Some(weights)
        }
        None => None,
    };
    let found = moments(engine, x, input, weights.as_ref())?;
    let far = found
        .least
        .iter()
        .zip(&found.greatest)
        .map(|(least, greatest)| least.abs().max(greatest.abs()));
    let farthest = far.fold(0.0, f64::max);
    if E::Elem::EPSILON > 1e-10 && farthest > 0.0 && !SQUARES.contains(&farthest) {
        let reason = format!("{} holds values whose squares float32 cannot hold", input.what);
        return Err(Error::Unsuited { reason });
    }
    let mean = found.mean;
    Ok(if fit.params.fit_intercept {
        mean
    } else {
        vec![0.0; mean.len()]
    })
}

fn centred<E: Engine>(engine: &E, x: &E::Matrix, n_rows: usize, mean: &[f64]) -> Result<E::Matrix> {
    let affine = Affine {
        offset: mean.to_vec(),
        scale: vec![1.0; mean.len()],
        inverse: false,
    };
    let mut centred = engine.create(n_rows, mean.len())?;
    engine.scale_shift(x, &affine, &mut E::write(&mut centred))?;
    Ok(centred)
}

/// `(√w K √w + alpha I) A = √w Y`, and `√w A`: what `Xᵀ` is multiplied with.
fn solve(
    mut kernel: Vec<f64>,
    mut targets: Vec<f64>,
    weights: Option<&[f64]>,
    fit: &Fit<'_>,
    epsilon: f64,
) -> Result<Vec<f64>> {
    let (n, t) = (fit.x.n_rows(), fit.y.n_cols());
    let roots: Vec<f64> = weights.map_or_else(
        || vec![1.0; n],
        |weights| weights.iter().map(|weight| weight.sqrt()).collect(),
    );
    kernel
        .iter_mut()
        .enumerate()
        .for_each(|(at, value)| *value *= roots[at / n] * roots[at % n]);
    targets
        .iter_mut()
        .enumerate()
        .for_each(|(at, value)| *value *= roots[at / t]);
    let mut alpha = f64::NAN;
    let mut factor = None;
    for target in 0..t {
        if alpha != fit.params.alpha[target] || factor.is_none() {
            let mut matrix = kernel.clone();
            alpha = fit.params.alpha[target];
            matrix.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal += alpha);
            let fresh = Factor::new(&matrix, n).map_err(unsuited)?;
            judge(fresh.condition, 1.0, epsilon)?;
            factor = Some(fresh);
        }
        let mut column: Vec<f64> = targets.iter().skip(target).step_by(t).copied().collect();
        if let Some(factor) = &factor {
            factor.solve(&mut column, 1);
        }
        column
            .iter()
            .enumerate()
            .for_each(|(row, value)| targets[row * t + target] = value * roots[row]);
    }
    Ok(targets)
}
