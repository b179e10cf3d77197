//! Without a penalty: the normal equations, and their answer improved by the residuals of the rows.
//!
//! The products of rounded rows leave an error of about their rounding times the condition of `Xᵀ X`. Each round of refinement, the
//! corrected seminormal equations of Björck (1987, "Stability analysis of the method of seminormal equations"), multiplies that error by
//! the same factor, until it is that of a method which never squares the condition.

use faer::{MatRef, Side};

use super::{Fit, Fitted, finish, unsuited};
use crate::engine::{Border, Frame, Real, Shape};
use crate::kernels::Engine;
use crate::kernels::gram::Framed;
use crate::kernels::matmul::{Operand, Terms};
use crate::solvers::cholesky::Factor;
use crate::solvers::moments::measured;
use crate::solvers::products::{Sums, sums};
use crate::{Error, Result};

/// The error that products of rounded rows leave in each other, for a matrix of condition 1.
const ROUNDING: [f64; 2] = [1e-7, 4e-16];
/// Below this product of the condition and the share of rounded sums the first answer is as good as any.
const NEEDS_NONE: f64 = 30.0;
/// The greatest factor that a round of refinement may leave of the error: in float32 predictions are rounded, in float64 the least singular
/// value is not refined, and beyond this another method is as good.
const MOST_LEFT: [f64; 2] = [2e-3, 4e-9];
const MOST_ROUNDS: usize = 6;
/// Distance of a mean from 0 in standard deviations, times the condition of the rows, up to which refinement gains in float64.
const MOST_FAR: f64 = 1e4;

pub(super) fn fit<'a, E: Engine + Border<'a>>(engine: &E, fit: &Fit<'a>) -> Result<Fitted> {
    let rows = sums(engine, &fit.rows(), fit.params.fit_intercept)?;
    let (of_x, of_y, products, share) = (&rows.of_x, &rows.of_y, &rows.products, rows.share);
    let (d, t) = (rows.x.n_cols(), rows.y.n_cols());
    let gram: Vec<f64> = products
        .chunks_exact(d + t)
        .take(d)
        .flat_map(|row| &row[..d])
        .copied()
        .collect();
    let factor = Factor::new(&gram, d).map_err(unsuited)?;
    let precision = usize::from(E::Elem::EPSILON < 1e-10);
    let limit = MOST_LEFT[precision] / ROUNDING[precision] / share;
    if factor.condition.is_nan() || factor.condition >= limit {
        let reason = format!(
            "columns of X depend on each other: the condition of its products is {:.1e}, the limit in {} is {:.1e}",
            factor.condition,
            E::Elem::NAME,
            limit
        );
        return Err(Error::Unsuited { reason });
    }
    // d by t, row-major, as the factor solves.
    let mut answer: Vec<f64> = products
        .chunks_exact(d + t)
        .take(d)
        .flat_map(|row| &row[d..])
        .copied()
        .collect();
    factor.solve(&mut answer, t);
    if factor.condition * share > NEEDS_NONE {
        // In float64 a row's prediction has the rounding of its offset, which no other sum of ours has.
        let far = of_x.mean.iter().zip(&of_x.scatter).zip(&of_x.weight);
        let far = far
            .map(|((mean, scatter), weight)| mean.abs() / (scatter / weight).sqrt())
            .fold(1.0, f64::max);
        if precision == 1 && far * factor.condition.sqrt() > MOST_FAR {
            let reason = "the mean of a column of X is too far off for the condition of its products".into();
            return Err(Error::Unsuited { reason });
        }
        refine(engine, fit, &rows, &factor, &mut answer)?;
    }
    let coefficients = (0..t * d).map(|at| answer[at % d * t + at / d]).collect();
    let mut fitted = finish(fit, coefficients, &of_x.mean, &of_y.mean)?;
    fitted.singular_values = singular_values(&gram, d)?;
    Ok(fitted)
}

/// Adds what the residuals ask for, until they ask for no more than rounding.
fn refine<E: Engine>(engine: &E, fit: &Fit<'_>, rows: &Sums<E>, factor: &Factor, answer: &mut [f64]) -> Result<()> {
    let (d, t) = (rows.x.n_cols(), rows.y.n_cols());
    let (mut residual, one) = (engine.create_beside(&rows.x, t)?, identity::<E>(engine, t)?);
    let frame = Frame {
        shift: vec![0.0; t],
        unit: rows.of_y.frame.unit.clone(),
    };
    let mut before = f64::INFINITY;
    for _ in 0..MOST_ROUNDS {
        // The rows see rounded coefficients; what is found is added to those.
        for value in answer.iter_mut() {
            *value = fit.x.rounded(*value);
        }
        let elements: Vec<E::Elem> = (0..t * d)
            .map(|at| E::Elem::from_f64(answer[at % d * t + at / d]))
            .collect();
        let [coefficients] = engine.resident([&elements], t, [d])?;
        let offset: Vec<E::Wide> = (0..t)
            .map(|target| {
                let at_mean: f64 = (0..d).map(|col| answer[col * t + target] * rows.of_x.mean[col]).sum();
                E::wide(if fit.params.fit_intercept {
                    rows.of_y.mean[target] - at_mean
                } else {
                    0.0
                })
            })
            .collect();
        let offset = engine.upload(&offset)?;
        engine.linear_map(&rows.x, &coefficients, &offset, &mut E::write(&mut residual))?;
        let less = Terms {
            beta: -1.0,
            ..Terms::default()
        };
        engine.matmul(
            Operand::Plain(&rows.y),
            Operand::Plain(&one),
            &less,
            &mut E::write(&mut residual),
        )?;
        let of_residual = measured(engine, &residual, rows.weights.as_ref(), &frame)?;
        let products = engine.gram(
            Framed(&rows.x, &rows.of_x.frame),
            Framed(&residual, &frame),
            rows.weights.as_ref(),
        )?;
        let [products] = engine.fetch([&products])?;
        let mut step: Vec<f64> = (0..d * t)
            .map(|at| {
                let (col, target) = (at / t, at % t);
                let product = products[col * (d + t) + d + target] / rows.of_x.frame.unit[col] / frame.unit[target];
                let about = if fit.params.fit_intercept {
                    -rows.of_x.offset[col]
                } else {
                    rows.of_x.frame.shift[col]
                };
                product + about * of_residual.weight[target] * of_residual.mean[target]
            })
            .collect();
        factor.solve(&mut step, t);
        let size = |values: &[f64]| factor.size(values, t);
        let moved = size(&step) / size(answer).max(f64::MIN_POSITIVE);
        if !moved.is_finite() {
            return Err(Error::Unsuited {
                reason: "the residuals overflow".into(),
            });
        }
        if moved >= before {
            break;
        }
        answer.iter_mut().zip(&step).for_each(|(value, step)| *value += step);
        if moved < E::Elem::EPSILON {
            break;
        }
        before = moved;
    }
    Ok(())
}

fn identity<E: Engine>(engine: &E, n: usize) -> Result<E::Matrix> {
    let values: Vec<E::Elem> = (0..n * n)
        .map(|at| E::Elem::from_f64(f64::from(at / n == at % n)))
        .collect();
    let [one] = engine.resident([&values], n, [n])?;
    Ok(one)
}

/// The singular values of the rows about their mean, greatest first: the roots of the eigenvalues of their products.
fn singular_values(gram: &[f64], d: usize) -> Result<Vec<f64>> {
    let found = MatRef::from_row_major_slice(gram, d, d).self_adjoint_eigenvalues(Side::Lower);
    let mut values = found.map_err(|_| Error::Unsuited {
        reason: "the eigenvalues of the products were not found".into(),
    })?;
    values.reverse();
    Ok(values.into_iter().map(|value| value.max(0.0).sqrt()).collect())
}
