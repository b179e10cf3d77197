//! Rows through a linear map, in plain f64.

use crate::testing::total;

/// `x weights^T + 1 offset^T`, for row-major `x` (n by d) and `weights` (t by d).
pub(super) fn linear_map(x: &[f64], weights: &[f64], offset: &[f64], d: usize) -> Vec<f64> {
    let entry = |row: &[f64], weights: &[f64], offset: f64| {
        total(row.iter().zip(weights).map(|(x, weight)| x * weight).chain([offset]))
    };
    let rows = x.chunks_exact(d);
    rows.flat_map(|row| {
        weights
            .chunks_exact(d)
            .zip(offset)
            .map(move |(weights, &offset)| entry(row, weights, offset))
    })
    .collect()
}
