//! Kernel sums, in plain f64.

use super::{KernelShape, KernelSum};
use crate::engine::Metric;

/// For each row of row-major `x`: the greatest exponent of a term (0 if none has one), the sum over it, and by how many epsilons of a
/// distance of `n_cols` terms the terms move the sum.
pub(super) fn kernel_sums(sum: &KernelSum, x: &[f64], y: &[f64], weights: &[f64], n_cols: usize) -> Vec<[f64; 3]> {
    let of_row = |row: &[f64]| {
        let us = y
            .chunks_exact(n_cols)
            .map(|other| distance(sum.metric, row, other) / sum.bandwidth);
        let terms: Vec<[f64; 3]> = us.map(|u| term(sum.shape, u)).collect();
        let most = terms.iter().map(|term| term[0]).fold(f64::NEG_INFINITY, f64::max);
        let mut found = [most, 0.0, 0.0];
        for ([exponent, factor, moves], weight) in terms.into_iter().zip(weights) {
            let size = (exponent - most).exp();
            found[1] += weight * factor * size;
            found[2] += weight.abs() * moves * size;
        }
        found
    };
    x.chunks_exact(n_cols).map(of_row).collect()
}

/// The exponent of a term, its factor, and by how much the term moves, over that exponential, with a relative change of u.
fn term(shape: KernelShape, u: f64) -> [f64; 3] {
    if !matches!(shape, KernelShape::Gaussian | KernelShape::Exponential) && u >= 1.0 {
        return [0.0; 3];
    }
    match shape {
        KernelShape::Gaussian => [-0.5 * u * u, 1.0, u * u + 1.0],
        KernelShape::Exponential => [-u, 1.0, u + 1.0],
        KernelShape::Tophat => [0.0, 1.0, 1.0],
        KernelShape::Epanechnikov => [0.0, 1.0 - u * u, 2.0],
        KernelShape::Linear => [0.0, 1.0 - u, 1.0],
        KernelShape::Cosine => [0.0, (std::f64::consts::FRAC_PI_2 * u).cos(), 2.0],
    }
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
