//! Products of columns, in plain f64.

use crate::testing::total;

/// As `native::gram`, for row-major `x` and `y` with `x_shift.len()` and `y_shift.len()` columns.
pub(super) fn gram(x: &[f64], x_shift: &[f64], y: &[f64], y_shift: &[f64], weights: Option<&[f64]>) -> Vec<f64> {
    let (d, t) = (x_shift.len(), y_shift.len());
    let n_rows = x.len() / d;
    let z = |r: usize, j: usize| {
        if j < d {
            x[r * d + j] - x_shift[j]
        } else {
            y[r * t + j - d] - y_shift[j - d]
        }
    };
    let weight = |r: usize| weights.map_or(1.0, |weights| weights[r]);
    let product = |i: usize, j: usize| total((0..n_rows).map(|r| weight(r) * z(r, i) * z(r, j)));
    (0..d * (d + t)).map(|at| product(at / (d + t), at % (d + t))).collect()
}
