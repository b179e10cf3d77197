//! Rows by the task: a row's k-th is found by partition, and what comes before it sorted.

use std::cmp::Ordering;

use crate::engine::Real;
use crate::engine::native_rows::part;
use crate::matrix::MatrixView;
use crate::threads::map_tasks;

/// Elements of a task.
const TASK_LEN: usize = 1 << 16;

/// The values and columns of the first `k` of each row.
pub(super) fn top_k_rows<T: Real>(x: MatrixView<'_, T>, k: usize, greatest: bool) -> (Vec<T>, Vec<u32>) {
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    let rows_per_task = (TASK_LEN / n_cols).max(1);
    let order = |&(a, at): &(T, u32), &(b, of): &(T, u32)| {
        let by_value = if greatest { b.partial_cmp(&a) } else { a.partial_cmp(&b) };
        a.nan()
            .cmp(&b.nan())
            .then(by_value.unwrap_or(Ordering::Equal))
            .then(at.cmp(&of))
    };
    let tasks = map_tasks(n_rows.div_ceil(rows_per_task), 4 * n_rows * n_cols, |task| {
        let mut scratch = Vec::new();
        let rows = x.rows(part(task, rows_per_task, n_rows));
        let mut entries = Vec::with_capacity(n_cols);
        let mut found = Vec::with_capacity(rows.n_rows() * k);
        for row in rows.packed(&mut scratch).chunks_exact(n_cols) {
            entries.clear();
            entries.extend(row.iter().copied().zip(0..));
            if k < n_cols {
                entries.select_nth_unstable_by(k - 1, order);
            }
            entries[..k].sort_unstable_by(order);
            found.extend_from_slice(&entries[..k]);
        }
        found
    });
    tasks.into_iter().flatten().unzip()
}
