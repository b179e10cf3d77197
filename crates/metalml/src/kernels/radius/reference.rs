//! What lies within a radius, in plain f64.

use crate::engine::Metric;

/// For each row of row-major `x` the rows of `y` within the radius: the index and the distance of each, indices ascending.
pub(super) fn within(metric: Metric, radius: f64, x: &[f64], y: &[f64], n_cols: usize) -> Vec<Vec<(usize, f64)>> {
    let near = |row: &[f64]| {
        let distances = y.chunks_exact(n_cols).map(|other| distance(metric, row, other));
        distances
            .enumerate()
            .filter(|&(_, distance)| distance <= radius)
            .collect()
    };
    x.chunks_exact(n_cols).map(near).collect()
}

/// The distance of two rows.
fn distance(metric: Metric, a: &[f64], b: &[f64]) -> f64 {
    let terms = |of: fn(f64) -> f64| a.iter().zip(b).map(move |(a, b)| of(a - b));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    match metric {
        Metric::SquaredEuclidean => terms(|d| d * d).sum(),
        Metric::Euclidean => terms(|d| d * d).sum::<f64>().sqrt(),
        Metric::Manhattan => terms(f64::abs).sum(),
        Metric::Chebyshev => terms(f64::abs).fold(0.0, f64::max),
        Metric::Minkowski(p) => terms(f64::abs).map(|d| d.powf(p)).sum::<f64>().powf(1.0 / p),
        Metric::Cosine => {
            let lengths = (dot(a, a) * dot(b, b)).sqrt();
            1.0 - if lengths == 0.0 { 0.0 } else { dot(a, b) / lengths }
        }
    }
}
