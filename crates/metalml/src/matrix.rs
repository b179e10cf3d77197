//! Host data that someone else owns: `MatrixView` (one element type) and `HostMatrix` (either), to read and to write.

use std::ops::Range;

use crate::engine::Real;
use crate::threads::{map_tasks, vectorized};
use crate::{Error, Result};

/// Elements that one thread looks at.
const SHARE: usize = 1 << 16;

/// A borrowed matrix of any strides, in elements; strides may be negative or zero.
#[derive(Clone, Copy, Debug)]
pub struct MatrixView<'a, T> {
    values: &'a [T],
    offset: usize,
    n_rows: usize,
    n_cols: usize,
    row_stride: isize,
    col_stride: isize,
}

impl<'a, T: Real> MatrixView<'a, T> {
    /// A row-major matrix without gaps.
    pub fn new(values: &'a [T], n_rows: usize, n_cols: usize) -> Result<Self> {
        if values.len() != n_rows * n_cols {
            return Err(Error::Shape {
                what: "matrix",
                expected: n_rows * n_cols,
                found: values.len(),
            });
        }
        Ok(Self {
            values,
            offset: 0,
            n_rows,
            n_cols,
            row_stride: n_cols as isize,
            col_stride: 1,
        })
    }

    /// A matrix whose element `(i, j)` is `values[offset + i * row_stride + j * col_stride]`.
    pub fn strided(
        values: &'a [T],
        offset: usize,
        [n_rows, n_cols]: [usize; 2],
        [row_stride, col_stride]: [isize; 2],
    ) -> Result<Self> {
        let view = Self {
            values,
            offset,
            n_rows,
            n_cols,
            row_stride,
            col_stride,
        };
        if n_rows > 0 && n_cols > 0 {
            let reach = |n: usize, stride: isize| [0, (n as isize - 1) * stride];
            for row in reach(n_rows, row_stride) {
                for col in reach(n_cols, col_stride) {
                    let at = offset as isize + row + col;
                    if at < 0 || at as usize >= values.len() {
                        return Err(Error::Shape {
                            what: "matrix",
                            expected: at.unsigned_abs() + 1,
                            found: values.len(),
                        });
                    }
                }
            }
        }
        Ok(view)
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Elements between one row and the next.
    pub fn row_stride(&self) -> isize {
        self.row_stride
    }

    /// Elements between one column and the next.
    pub fn col_stride(&self) -> isize {
        self.col_stride
    }

    /// Element `(row, col)`.
    #[inline]
    pub fn get(&self, row: usize, col: usize) -> T {
        debug_assert!(row < self.n_rows && col < self.n_cols);
        let at = self.offset as isize + row as isize * self.row_stride + col as isize * self.col_stride;
        self.values[at as usize]
    }

    /// The values as one row-major slice, if they lie so.
    pub fn as_slice(&self) -> Option<&'a [T]> {
        let len = self.n_rows * self.n_cols;
        if len == 0 {
            return Some(&[]);
        }
        let rows_adjoin = self.n_rows == 1 || self.row_stride == self.n_cols as isize;
        let cols_adjoin = self.n_cols == 1 || self.col_stride == 1;
        (rows_adjoin && cols_adjoin).then(|| &self.values[self.offset..self.offset + len])
    }

    /// One row as a slice, if its elements adjoin.
    pub fn row_slice(&self, row: usize) -> Option<&'a [T]> {
        if self.n_cols > 1 && self.col_stride != 1 || self.n_cols == 0 {
            return None;
        }
        let start = (self.offset as isize + row as isize * self.row_stride) as usize;
        Some(&self.values[start..start + self.n_cols])
    }

    /// The memory from the first element on, and its strides: for libraries that take a pointer.
    pub fn parts(&self) -> (&'a [T], usize) {
        (self.values, self.offset)
    }

    /// Some of the rows.
    pub fn rows(&self, range: Range<usize>) -> Self {
        debug_assert!(range.start <= range.end && range.end <= self.n_rows);
        let at = self.offset as isize + range.start as isize * self.row_stride;
        Self {
            offset: if range.is_empty() { 0 } else { at as usize },
            n_rows: range.len(),
            ..*self
        }
    }

    /// Some of the columns.
    pub fn cols(&self, range: Range<usize>) -> Self {
        self.transposed().rows(range).transposed()
    }

    /// Rows for columns.
    pub fn transposed(&self) -> Self {
        Self {
            n_rows: self.n_cols,
            n_cols: self.n_rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            ..*self
        }
    }

    /// Whether there is neither a NaN nor an infinity.
    pub fn is_finite(&self) -> bool {
        self.is_welcome(false)
    }

    /// Whether there is no infinity, and no NaN unless NaN is welcome.
    pub fn is_welcome(&self, nan: bool) -> bool {
        let rows_per_share = (SHARE / self.n_cols.max(1)).max(1);
        let n_shares = self.n_rows.div_ceil(rows_per_share);
        let shares = map_tasks(n_shares, self.n_rows * self.n_cols, |share| {
            let start = share * rows_per_share;
            let mut scratch = Vec::new();
            let rows = self.rows(start..(start + rows_per_share).min(self.n_rows));
            let values = rows.packed(&mut scratch);
            // A sum would be quicker to look at, were it not for sums that overflow.
            vectorized(
                #[inline(always)]
                || {
                    values
                        .iter()
                        .fold(true, |all, value| all & (value.finite() | (nan & value.nan())))
                },
            )
        });
        !shares.contains(&false)
    }

    /// Whether this is the same memory, seen in the same way.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let seen = |view: &Self| {
            (
                view.values.as_ptr_range(),
                view.offset,
                view.n_rows,
                view.n_cols,
                view.row_stride,
                view.col_stride,
            )
        };
        seen(self) == seen(other)
    }

    /// The values in row-major order: borrowed where they lie so, else gathered into `scratch`.
    pub fn packed<'s>(&self, scratch: &'s mut Vec<T>) -> &'s [T]
    where
        'a: 's,
    {
        if let Some(values) = self.as_slice() {
            return values;
        }
        scratch.clear();
        scratch.reserve(self.n_rows * self.n_cols);
        for row in 0..self.n_rows {
            match self.row_slice(row) {
                Some(values) => scratch.extend_from_slice(values),
                None => scratch.extend((0..self.n_cols).map(|col| self.get(row, col))),
            }
        }
        scratch
    }
}

/// A row-major matrix without gaps, to write to.
#[derive(Debug)]
pub struct MatrixViewMut<'a, T> {
    values: &'a mut [T],
    n_cols: usize,
}

impl<'a, T: Real> MatrixViewMut<'a, T> {
    /// `values.len()` must be a multiple of `n_cols`.
    pub fn new(values: &'a mut [T], n_cols: usize) -> Result<Self> {
        if n_cols == 0 || !values.len().is_multiple_of(n_cols) {
            return Err(Error::Shape {
                what: "output",
                expected: n_cols,
                found: values.len(),
            });
        }
        Ok(Self { values, n_cols })
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.n_cols
    }

    /// How many columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// All values.
    pub fn values(&mut self) -> &mut [T] {
        self.values
    }

    /// Some of the rows, borrowed for a while.
    pub fn rows(&mut self, range: Range<usize>) -> MatrixViewMut<'_, T> {
        MatrixViewMut {
            values: &mut self.values[range.start * self.n_cols..range.end * self.n_cols],
            n_cols: self.n_cols,
        }
    }

    /// The same matrix, to read.
    pub fn as_view(&self) -> MatrixView<'_, T> {
        MatrixView {
            values: self.values,
            offset: 0,
            n_rows: self.n_rows(),
            n_cols: self.n_cols,
            row_stride: self.n_cols as isize,
            col_stride: 1,
        }
    }
}

/// A borrowed matrix of either element type.
#[derive(Clone, Copy, Debug)]
pub enum HostMatrix<'a> {
    /// float32
    F32(MatrixView<'a, f32>),
    /// float64
    F64(MatrixView<'a, f64>),
}

/// A matrix of either element type, to write to.
#[derive(Debug)]
pub enum HostMatrixMut<'a> {
    /// float32
    F32(MatrixViewMut<'a, f32>),
    /// float64
    F64(MatrixViewMut<'a, f64>),
}

macro_rules! each {
    ($enum:ident, $value:expr, $view:ident => $body:expr) => {
        match $value {
            $enum::F32($view) => $body,
            $enum::F64($view) => $body,
        }
    };
}

impl HostMatrix<'_> {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        each!(HostMatrix, self, view => view.n_rows())
    }

    /// How many columns.
    pub fn n_cols(&self) -> usize {
        each!(HostMatrix, self, view => view.n_cols())
    }

    /// A value rounded to the element type.
    pub fn rounded(&self, value: f64) -> f64 {
        match self {
            Self::F32(_) => f64::from(value as f32),
            Self::F64(_) => value,
        }
    }

    /// NumPy's name of the element type.
    pub fn element(&self) -> &'static str {
        match self {
            Self::F32(_) => f32::NAME,
            Self::F64(_) => f64::NAME,
        }
    }

    /// Element `(row, col)`.
    pub fn get(&self, row: usize, col: usize) -> f64 {
        match self {
            Self::F32(view) => view.get(row, col).into(),
            Self::F64(view) => view.get(row, col),
        }
    }

    /// Some of the columns.
    #[must_use]
    pub fn cols(&self, range: Range<usize>) -> Self {
        match self {
            Self::F32(view) => Self::F32(view.cols(range)),
            Self::F64(view) => Self::F64(view.cols(range)),
        }
    }

    /// Some of the rows.
    #[must_use]
    pub fn rows(&self, range: Range<usize>) -> Self {
        match self {
            Self::F32(view) => Self::F32(view.rows(range)),
            Self::F64(view) => Self::F64(view.rows(range)),
        }
    }
}

impl HostMatrixMut<'_> {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        each!(HostMatrixMut, self, view => view.n_rows())
    }

    /// How many columns.
    pub fn n_cols(&self) -> usize {
        each!(HostMatrixMut, self, view => view.n_cols())
    }

    /// Some of the rows, borrowed for a while.
    pub fn rows(&mut self, range: Range<usize>) -> HostMatrixMut<'_> {
        match self {
            Self::F32(view) => HostMatrixMut::F32(view.rows(range)),
            Self::F64(view) => HostMatrixMut::F64(view.rows(range)),
        }
    }

    /// The same matrix, to read.
    pub fn as_view(&self) -> HostMatrix<'_> {
        match self {
            Self::F32(view) => HostMatrix::F32(view.as_view()),
            Self::F64(view) => HostMatrix::F64(view.as_view()),
        }
    }
}
