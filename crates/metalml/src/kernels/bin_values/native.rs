//! Rows by the task; a search without branches in each column's thresholds.

use super::Bins;
use crate::engine::Real;
use crate::engine::native_rows::part;
use crate::matrix::MatrixView;
use crate::threads::for_each_chunk;

/// Rows of a task.
const TASK_ROWS: usize = 1024;

/// The bins of all values, four columns a word.
pub(super) fn bin_values<T: Real>(x: MatrixView<'_, T>, bins: &Bins) -> Vec<u32> {
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    let words = n_cols.div_ceil(4);
    let mut found = vec![0_u32; n_rows * words];
    for_each_chunk(&mut found, TASK_ROWS * words, 8 * n_rows * n_cols, |task, found| {
        let mut scratch = Vec::new();
        let rows = x.rows(part(task, TASK_ROWS, n_rows));
        let values = rows.packed(&mut scratch);
        // Column by column: its thresholds stay near.
        for (col, thresholds) in bins.thresholds.iter().enumerate() {
            let column = values.iter().skip(col).step_by(n_cols);
            for (&value, found) in column.zip(found.iter_mut().skip(col / 4).step_by(words)) {
                let value: f64 = value.into();
                let bin = if value.is_nan() {
                    bins.missing.into()
                } else {
                    below(thresholds, value)
                };
                *found |= bin << (8 * (col % 4));
            }
        }
    });
    found
}

/// How many of the ascending thresholds are below the value.
fn below(thresholds: &[f64], value: f64) -> u32 {
    let (mut first, mut len) = (0, thresholds.len());
    while len > 0 {
        let half = len.div_ceil(2);
        first += if thresholds[first + half - 1] < value { half } else { 0 };
        len -= half;
    }
    first as u32
}
