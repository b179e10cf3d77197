//! How the native kernels walk a matrix: blocks that fit the cache, tasks whose sizes depend on the data alone.
//!
//! Block sizes and the order of merging never depend on the number of threads, so answers have the same bits on every
//! machine of one instruction set. Only blocks that do not already lie in rows are copied.

use std::ops::Range;

use rayon::prelude::*;

use crate::engine::Real;
use crate::matrix::MatrixView;

/// Elements of work below which waking another thread costs more than it saves.
const SERIAL_WORK: usize = 1 << 16;

/// Runs `work` compiled for the widest vectors this machine has. The closure and what it calls must be
/// `#[inline(always)]`, or they stay compiled for the oldest machine of the architecture.
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// Whether `n_tasks` over `work` elements are worth more than one thread. Starts no thread pool when they are not.
pub(crate) fn pays_threads(n_tasks: usize, work: usize) -> bool {
    n_tasks > 1 && work >= SERIAL_WORK && rayon::current_num_threads() > 1
}

/// The results of all tasks, in their order; `work` is the number of elements they read altogether.
pub(crate) fn map_tasks<R: Send>(n_tasks: usize, work: usize, task: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if pays_threads(n_tasks, work) {
        (0..n_tasks).into_par_iter().map(&task).collect()
    } else {
        (0..n_tasks).map(task).collect()
    }
}

/// Calls `task` with each chunk of `values` and its number.
pub(crate) fn for_each_chunk<T: Send>(
    values: &mut [T],
    chunk: usize,
    work: usize,
    task: impl Fn(usize, &mut [T]) + Sync,
) {
    if pays_threads(values.len().div_ceil(chunk), work) {
        values.par_chunks_mut(chunk).enumerate().for_each(|(at, chunk)| task(at, chunk));
    } else {
        values.chunks_mut(chunk).enumerate().for_each(|(at, chunk)| task(at, chunk));
    }
}

/// Part `at` when `0..len` is cut every `step`.
pub(crate) fn part(at: usize, step: usize, len: usize) -> Range<usize> {
    at * step..len.min((at + 1) * step)
}

/// How many rows of width `d` are laid side by side so that short rows fill whole vectors; 1 for long rows.
pub(crate) fn rows_side_by_side(d: usize) -> usize {
    const WIDE: usize = 128;
    const LANES: usize = 8;
    if d >= WIDE { 1 } else { WIDE.div_ceil(d.max(1)).next_multiple_of(LANES) }
}

/// A part of a matrix in row-major order: row `r` is `values[r * stride..][..width]`.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a, T> {
    pub values: &'a [T],
    pub stride: usize,
    pub width: usize,
}

impl<'a, T: Real> Block<'a, T> {
    /// The part of `x`, borrowed where its rows lie in order, else copied to `scratch`.
    pub(crate) fn of<'s>(
        x: &MatrixView<'a, T>,
        rows: Range<usize>,
        cols: Range<usize>,
        scratch: &'s mut Vec<T>,
    ) -> Block<'s, T>
    where
        'a: 's,
    {
        let width = cols.len();
        if let Some((values, stride)) = in_rows(x, rows.clone(), cols.clone()) {
            return Block { values, stride, width };
        }
        scratch.resize(rows.len() * width, T::default());
        gather(x, rows, cols, scratch);
        Block { values: scratch, stride: width, width }
    }

    /// How many rows.
    pub(crate) fn n_rows(&self) -> usize {
        if self.values.is_empty() { 0 } else { (self.values.len() - self.width) / self.stride + 1 }
    }
}

/// The part of `x` as it lies in memory and the distance of its rows, if it lies in rows that ascend and do not overlap.
pub(crate) fn in_rows<'a, T: Real>(
    x: &MatrixView<'a, T>,
    rows: Range<usize>,
    cols: Range<usize>,
) -> Option<(&'a [T], usize)> {
    let width = cols.len();
    if rows.is_empty() || width == 0 {
        return Some((&[], width.max(1)));
    }
    let stride = if rows.len() == 1 { width as isize } else { x.row_stride() };
    if (width > 1 && x.col_stride() != 1) || stride < width as isize {
        return None;
    }
    let (values, offset) = x.parts();
    let start = offset as isize + rows.start as isize * x.row_stride() + cols.start as isize * x.col_stride();
    let len = (rows.len() - 1) * stride as usize + width;
    Some((&values[start as usize..start as usize + len], stride as usize))
}

/// Copies the part of `x` to `into`, row-major without gaps.
pub(crate) fn gather<T: Real>(x: &MatrixView<'_, T>, rows: Range<usize>, cols: Range<usize>, into: &mut [T]) {
    const TOGETHER: usize = 8;
    let width = cols.len();
    if width == 0 {
        return;
    }
    if x.row_stride() != 1 || rows.len() == 1 {
        for (row, into) in rows.zip(into.chunks_exact_mut(width)) {
            match x.row_slice(row) {
                Some(values) => into.copy_from_slice(&values[cols.clone()]),
                None => into.iter_mut().zip(cols.clone()).for_each(|(into, col)| *into = x.get(row, col)),
            }
        }
        return;
    }
    let (values, offset) = x.parts();
    let column = |col: usize| {
        let start = offset as isize + rows.start as isize + col as isize * x.col_stride();
        &values[start as usize..start as usize + rows.len()]
    };
    let mut first = 0;
    while first + TOGETHER <= width {
        let columns: [&[T]; TOGETHER] = std::array::from_fn(|k| column(cols.start + first + k));
        for (row, into) in into.chunks_exact_mut(width).enumerate() {
            let into = &mut into[first..first + TOGETHER];
            for k in 0..TOGETHER {
                into[k] = columns[k][row];
            }
        }
        first += TOGETHER;
    }
    for col in first..width {
        for (into, &value) in into.chunks_exact_mut(width).zip(column(cols.start + col)) {
            into[col] = value;
        }
    }
}
