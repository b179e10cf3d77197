//! Rows by the task. A few of many are kept in a sorted list while the row passes; otherwise the k-th is found by partition, and what
//! comes before it sorted.

#![expect(
    clippy::inline_always,
    reason = "what `vectorized` runs must be compiled where it is called"
)]

use std::cmp::Ordering;

use crate::engine::Real;
use crate::engine::native_rows::part;
use crate::matrix::MatrixView;
use crate::threads::{map_tasks, vectorized};

/// Elements of a task.
const TASK_LEN: usize = 1 << 16;
/// How many a sorted list may hold, and how many columns there are for each at least, so that few values are ever moved.
const FEW: usize = 64;
const COLUMNS_FOR_ONE: usize = 8;
/// Values that are compared at once.
const LANES: usize = 16;

/// The values and columns of the first `k` of each row.
pub(super) fn top_k_rows<T: Real>(x: MatrixView<'_, T>, k: usize, greatest: bool) -> (Vec<T>, Vec<u32>) {
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    let rows_per_task = (TASK_LEN / n_cols).max(1);
    let tasks = map_tasks(n_rows.div_ceil(rows_per_task), 4 * n_rows * n_cols, |task| {
        let mut scratch = Vec::new();
        let rows = x.rows(part(task, rows_per_task, n_rows));
        let rows = rows.packed(&mut scratch).chunks_exact(n_cols);
        if k <= FEW && k * COLUMNS_FOR_ONE <= n_cols {
            vectorized(
                #[inline(always)]
                || {
                    if greatest {
                        by_lists::<T, true>(rows, k)
                    } else {
                        by_lists::<T, false>(rows, k)
                    }
                },
            )
        } else if greatest {
            by_partition::<T, true>(rows, k)
        } else {
            by_partition::<T, false>(rows, k)
        }
    });
    tasks.into_iter().flatten().unzip()
}

/// Which of two comes first: NaN last, and of equal ones the lowest column first.
#[inline(always)]
fn order<T: Real, const GREATEST: bool>(&(a, at): &(T, u32), &(b, of): &(T, u32)) -> Ordering {
    let by_value = if GREATEST { b.partial_cmp(&a) } else { a.partial_cmp(&b) };
    a.nan()
        .cmp(&b.nan())
        .then(by_value.unwrap_or(Ordering::Equal))
        .then(at.cmp(&of))
}

#[inline(always)]
fn by_lists<'r, T: Real, const GREATEST: bool>(rows: impl Iterator<Item = &'r [T]>, k: usize) -> Vec<(T, u32)> {
    let mut found = Vec::with_capacity(rows.size_hint().0 * k);
    for row in rows {
        let first = found.len();
        found.extend(row[..k].iter().copied().zip(0..));
        let list = &mut found[first..];
        list.sort_unstable_by(order::<T, GREATEST>);
        for (chunk, values) in row.chunks(LANES).enumerate().skip(k / LANES) {
            let last = list[k - 1].0;
            // Also where one of them is NaN.
            let may_enter = |&value: &T| u32::from(!if GREATEST { value <= last } else { value >= last });
            if values.iter().map(may_enter).fold(0, |any, one| any | one) == 0 {
                continue;
            }
            for (at, &value) in (chunk * LANES..).zip(values) {
                if at >= k {
                    enter::<T, GREATEST>(list, (value, at as u32));
                }
            }
        }
    }
    found
}

/// Put into a sorted list what comes before its last, which goes.
#[inline(always)]
fn enter<T: Real, const GREATEST: bool>(list: &mut [(T, u32)], entry: (T, u32)) {
    let mut place = list.len();
    while place > 0 && order::<T, GREATEST>(&entry, &list[place - 1]) == Ordering::Less {
        if place < list.len() {
            list[place] = list[place - 1];
        }
        place -= 1;
    }
    if let Some(place) = list.get_mut(place) {
        *place = entry;
    }
}

fn by_partition<'r, T: Real, const GREATEST: bool>(rows: impl Iterator<Item = &'r [T]>, k: usize) -> Vec<(T, u32)> {
    let (mut entries, mut found) = (Vec::new(), Vec::with_capacity(rows.size_hint().0 * k));
    for row in rows {
        entries.clear();
        entries.extend(row.iter().copied().zip(0..));
        if k < entries.len() {
            entries.select_nth_unstable_by(k - 1, order::<T, GREATEST>);
        }
        entries[..k].sort_unstable_by(order::<T, GREATEST>);
        found.extend_from_slice(&entries[..k]);
    }
    found
}
