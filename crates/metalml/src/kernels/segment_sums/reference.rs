//! What the sums mean, in plain f64.

use crate::testing::total;

/// As `SegmentSums::segment_sums`, for row-major `x`.
pub(super) fn segment_sums(
    x: &[f64],
    labels: &[u32],
    count: usize,
    weights: Option<&[f64]>,
    shift: &[f64],
    squares: bool,
) -> Vec<f64> {
    let n_cols = shift.len();
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let mut sums = Vec::new();
    for segment in 0..count {
        let rows = || (0..labels.len()).filter(move |&row| labels[row] as usize == segment);
        sums.push(total(rows().map(weight)));
        for power in 1..=1 + i32::from(squares) {
            for col in 0..n_cols {
                let d = |row: usize| x[row * n_cols + col] - shift[col];
                sums.push(total(rows().map(|row| weight(row) * d(row).powi(power))));
            }
        }
    }
    sums
}
