//! A product of matrices, in plain f64.

/// As `native::matmul`, for row-major `a` (m x k) and `b` (k x n).
pub(super) fn matmul(a: &[f64], a_shift: Option<&[f64]>, b: &[f64], bias: Option<&[f64]>, [m, k, n]: [usize; 3]) -> Vec<f64> {
    let a = |i: usize, l: usize| a[i * k + l] - a_shift.map_or(0.0, |shift| shift[l]);
    let entry =
        |i: usize, j: usize| (0..k).map(|l| a(i, l) * b[l * n + j]).sum::<f64>() + bias.map_or(0.0, |bias| bias[j]);
    (0..m * n).map(|at| entry(at / n, at % n)).collect()
}
