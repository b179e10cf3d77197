//! What bins mean: thresholds counted one by one.

use super::Bins;

/// The bins of row-major `x`, four columns a word.
pub(super) fn bin_values(x: &[f64], bins: &Bins) -> Vec<u32> {
    let n_cols = bins.thresholds.len();
    let bin = |col: usize, value: f64| {
        if value.is_nan() {
            return u32::from(bins.missing);
        }
        bins.thresholds[col]
            .iter()
            .filter(|&&threshold| threshold < value)
            .count() as u32
    };
    let words = |row: &[f64]| -> Vec<u32> {
        let found: Vec<u32> = row.iter().enumerate().map(|(col, &value)| bin(col, value)).collect();
        found
            .chunks(4)
            .map(|four| four.iter().rev().fold(0, |word, bin| word << 8 | bin))
            .collect()
    };
    x.chunks_exact(n_cols).flat_map(words).collect()
}
