//! A product of matrices, in plain f64.

/// As `native::matmul`, for row-major `a` (m x k) and `b` (k x n).
pub(super) fn matmul(a: &[f64], b: &[f64], bias: Option<&[f64]>, [m, k, n]: [usize; 3]) -> Vec<f64> {
    let product = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum::<f64>();
    let entry = |i: usize, j: usize| product(i, j) + bias.map_or(0.0, |bias| bias[j]);
    (0..m * n).map(|at| entry(at / n, at % n)).collect()
}
