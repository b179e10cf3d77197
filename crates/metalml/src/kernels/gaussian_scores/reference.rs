//! Scores of rows, in plain f64.

use super::Gaussians;
use crate::testing::total;

/// `offset - Σ ((x - place) weight)²` for each row of d columns and each Gaussian, row-major.
pub(super) fn gaussian_scores(x: &[f64], of: &Gaussians<'_>, d: usize) -> Vec<f64> {
    let score = |row: &[f64], class: usize| {
        let squares = (0..d).map(|k| ((row[k] - of.place[class * d + k]) * of.weight[class * d + k]).powi(2));
        of.offset[class] - total(squares)
    };
    let rows = x.chunks_exact(d);
    rows.flat_map(|row| (0..of.offset.len()).map(move |class| score(row, class)))
        .collect()
}
