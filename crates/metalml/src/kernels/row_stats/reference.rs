//! What the numbers mean, in plain f64.

use super::RowStat;
use crate::testing::total;

/// The number and the index of each row of row-major `x`.
pub(super) fn row_stats(x: &[f64], n_cols: usize, stat: RowStat) -> (Vec<f64>, Vec<f64>) {
    let of_row = |row: &[f64]| -> (f64, f64) {
        let largest = row.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let first = |best: f64| {
            let at = |wanted: &dyn Fn(f64) -> bool| row.iter().position(|&value| wanted(value));
            let nan = at(&|value| value.is_nan());
            let index = nan.or_else(|| at(&|value| value == best)).expect("it is there");
            (row[index], index as f64)
        };
        match stat {
            RowStat::Sum => (total(row.iter().copied()), 0.0),
            RowStat::Squares => (total(row.iter().map(|value| value * value)), 0.0),
            RowStat::L1 => (total(row.iter().map(|value| value.abs())), 0.0),
            RowStat::L2 if largest == 0.0 => (0.0, 0.0),
            RowStat::L2 => (
                largest * total(row.iter().map(|value| (value / largest).powi(2))).sqrt(),
                0.0,
            ),
            RowStat::Max => (largest, 0.0),
            RowStat::Least => first(row.iter().copied().fold(f64::INFINITY, f64::min)),
            RowStat::Greatest => first(row.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        }
    };
    x.chunks_exact(n_cols).map(of_row).unzip()
}
