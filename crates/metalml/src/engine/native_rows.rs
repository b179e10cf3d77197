//! How the native kernels walk a matrix: blocks that fit the cache, copied only if they do not lie in rows already.

use std::ops::Range;

use crate::engine::Real;
use crate::matrix::MatrixView;

/// Part `at` when `0..len` is cut every `step`.
pub(crate) fn part(at: usize, step: usize, len: usize) -> Range<usize> {
    at * step..len.min((at + 1) * step)
}

/// How many rows of width `d` are laid side by side so that short rows fill whole vectors; 1 for long rows.
pub(crate) fn rows_side_by_side(d: usize) -> usize {
    const WIDE: usize = 128;
    const LANES: usize = 8;
    if d >= WIDE {
        1
    } else {
        WIDE.div_ceil(d.max(1)).next_multiple_of(LANES)
    }
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
        Block {
            values: scratch,
            stride: width,
            width,
        }
    }

    /// How many rows.
    pub(crate) fn n_rows(&self) -> usize {
        if self.values.is_empty() {
            0
        } else {
            (self.values.len() - self.width) / self.stride + 1
        }
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
    let stride = if rows.len() == 1 {
        width as isize
    } else {
        x.row_stride()
    };
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
                None => into
                    .iter_mut()
                    .zip(cols.clone())
                    .for_each(|(into, col)| *into = x.get(row, col)),
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
