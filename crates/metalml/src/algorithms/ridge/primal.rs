//! Tall data: the normal equations.

use super::{Fit, Fitted, finish, inputs, judge, unsuited};
use crate::Result;
use crate::engine::{Border, Input, Real};
use crate::kernels::Engine;
use crate::kernels::gram::Framed;
use crate::solvers::cholesky::Factor;
use crate::solvers::moments::{Moments, moments};
use crate::solvers::products::moved;

pub(super) fn fit<'a, E: Engine + Border<'a>>(engine: &E, fit: &Fit<'a>) -> Result<Fitted> {
    let sums = sums(engine, fit)?;
    let coefficients = solve(&sums.products, fit, sums.share, E::Elem::EPSILON)?;
    finish(fit, coefficients, &sums.of_x.mean, &sums.of_y.mean)
}

/// The rows on the engine, and what is summed over them.
pub(super) struct Sums<E: Engine> {
    pub(super) x: E::Matrix,
    pub(super) y: E::Matrix,
    pub(super) weights: Option<E::Matrix>,
    pub(super) of_x: Moments,
    pub(super) of_y: Moments,
    /// d + t by d + t, about the mean or the origin.
    pub(super) products: Vec<f64>,
    /// The greatest share that the rounded sums have in a diagonal element.
    pub(super) share: f64,
}

pub(super) fn sums<'a, E: Engine + Border<'a>>(engine: &E, fit: &Fit<'a>) -> Result<Sums<E>> {
    let [x_input, y_input] = inputs(fit);
    let (x, y, weights) = if let Some(weights) = fit.weights {
        let [x, y, weights] = engine.bring([x_input, y_input, Input::finite(weights, "sample_weight")])?;
        (x, y, Some(weights))
    } else {
        let [x, y] = engine.bring([x_input, y_input])?;
        (x, y, None)
    };
    let of_x = moments(engine, &x, &x_input, weights.as_ref())?;
    let of_y = moments(engine, &y, &y_input, weights.as_ref())?;
    let products = engine.gram(Framed(&x, &of_x.frame), Framed(&y, &of_y.frame), weights.as_ref())?;
    let [mut products] = engine.fetch([&products])?;
    let share = moved(&mut products, &[&of_x, &of_y], fit.params.fit_intercept)?;
    Ok(Sums {
        x,
        y,
        weights,
        of_x,
        of_y,
        products,
        share,
    })
}

/// `(Xᵀ X + alpha I) W = Xᵀ Y`, factored once for each distinct alpha. Gives `W` as t by d.
fn solve(products: &[f64], fit: &Fit<'_>, share: f64, epsilon: f64) -> Result<Vec<f64>> {
    let (d, t) = (fit.x.n_cols(), fit.y.n_cols());
    let mut coefficients = vec![0.0; t * d];
    let mut targets: Vec<usize> = (0..t).collect();
    while let Some(&first) = targets.first() {
        let alpha = fit.params.alpha[first];
        let (same, others) = targets
            .into_iter()
            .partition::<Vec<_>, _>(|&target| fit.params.alpha[target] == alpha);
        targets = others;
        let matrix = products.chunks_exact(d + t).enumerate().flat_map(|(i, row)| {
            row[..d]
                .iter()
                .enumerate()
                .map(move |(j, &value)| if i == j { value + alpha } else { value })
        });
        let factor = Factor::new(&matrix.collect::<Vec<_>>(), d).map_err(unsuited)?;
        judge(factor.condition, share, epsilon)?;
        let mut rhs: Vec<f64> = products
            .chunks_exact(d + t)
            .flat_map(|row| same.iter().map(move |&target| row[d + target]))
            .collect();
        factor.solve(&mut rhs, same.len());
        for (i, row) in rhs.chunks_exact(same.len()).enumerate() {
            same.iter()
                .zip(row)
                .for_each(|(&target, &value)| coefficients[target * d + i] = value);
        }
    }
    Ok(coefficients)
}
