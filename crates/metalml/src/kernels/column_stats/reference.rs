//! What the columns amount to, in plain f64: mean first, then the squares around it.

use crate::testing::total;

/// As `native::column_stats`, for row-major `x` with `shift.len()` columns.
pub(super) fn column_stats(x: &[f64], weights: Option<&[f64]>, shift: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let d = shift.len();
    let mut sums = vec![0.0; 4 * d];
    let mut range = [vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]].concat();
    for j in 0..d {
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let rows = || {
            (0..x.len() / d)
                .map(|i| (weight(i), x[i * d + j]))
                .filter(|(_, value)| !value.is_nan())
        };
        let weight_sum = total(rows().map(|(weight, _)| weight));
        sums[j] = weight_sum;
        sums[3 * d + j] = rows().count() as f64;
        if weight_sum != 0.0 {
            // The shift is taken off first, so that an offset costs no digits.
            let mean = total(rows().map(|(weight, value)| weight * (value - shift[j]))) / weight_sum;
            sums[d + j] = mean;
            sums[2 * d + j] = total(rows().map(|(weight, value)| weight * (value - shift[j] - mean).powi(2)));
        }
        range[j] = rows().map(|(_, value)| value).fold(f64::INFINITY, f64::min);
        range[d + j] = rows().map(|(_, value)| value).fold(f64::NEG_INFINITY, f64::max);
    }
    (sums, range)
}
