//! Tall data: the normal equations.

use super::{Fit, Fitted, finish, judge, unsuited};
use crate::Result;
use crate::engine::{Border, Real};
use crate::kernels::Engine;
use crate::solvers::cholesky::Factor;
use crate::solvers::products::sums;

pub(super) fn fit<'a, E: Engine + Border<'a>>(engine: &E, fit: &Fit<'a>) -> Result<Fitted> {
    let sums = sums(engine, &fit.rows(), fit.params.fit_intercept)?;
    let coefficients = solve(&sums.products, fit, sums.share, E::Elem::EPSILON)?;
    finish(fit, coefficients, &sums.of_x.mean, &sums.of_y.mean)
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
