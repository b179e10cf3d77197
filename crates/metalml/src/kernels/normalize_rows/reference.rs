//! What normal rows are, in plain f64.

use super::RowNorm;
use crate::testing::total;

/// The rows of row-major `x`, divided by their norms.
pub(super) fn normalize_rows(x: &[f64], n_cols: usize, norm: RowNorm) -> Vec<f64> {
    let divided = |row: &[f64]| {
        let largest = row.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let sizes = || row.iter().map(|value| value.abs() / largest);
        let length = match norm {
            _ if largest == 0.0 => return row.to_vec(),
            RowNorm::L1 => total(sizes()),
            RowNorm::L2 => total(sizes().map(|size| size * size)).sqrt(),
            RowNorm::Max => 1.0,
        };
        row.iter().map(|value| value / largest / length).collect()
    };
    x.chunks_exact(n_cols).flat_map(divided).collect()
}
