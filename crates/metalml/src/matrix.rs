//! Host data that someone else owns: `MatrixView` (one element type) and `HostMatrix` (any), to read and to write.

mod cast;

use std::cmp::Ordering;
use std::ops::Range;

use crate::engine::Real;
use crate::threads::{map_tasks, vectorized};
use crate::{Error, Result};

pub use cast::CastMatrix;
pub(crate) use cast::{Cast, Visitor};

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

impl<'a, T: Copy> MatrixView<'a, T> {
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

impl<T: Real> MatrixView<'_, T> {
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

/// A borrowed matrix of any element type.
#[derive(Clone, Copy, Debug)]
pub enum HostMatrix<'a> {
    /// float32
    F32(MatrixView<'a, f32>),
    /// float64
    F64(MatrixView<'a, f64>),
    /// What is cast on its way to an engine.
    Cast(CastMatrix<'a>),
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
    ($value:expr, $view:ident => $body:expr) => {
        match $value {
            HostMatrix::F32($view) => $body,
            HostMatrix::F64($view) => $body,
            HostMatrix::Cast($view) => $body,
        }
    };
}

impl HostMatrix<'_> {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        each!(self, view => view.n_rows())
    }

    /// How many columns.
    pub fn n_cols(&self) -> usize {
        each!(self, view => view.n_cols())
    }

    /// Whether what is made of it is float32, and not float64.
    pub fn is_single(&self) -> bool {
        match self {
            Self::F32(_) => true,
            Self::F64(_) => false,
            Self::Cast(view) => view.is_single(),
        }
    }

    /// A value rounded to the type that is computed in.
    pub fn rounded(&self, value: f64) -> f64 {
        if self.is_single() {
            f64::from(value as f32)
        } else {
            value
        }
    }

    /// A value rounded to the type that is computed in, and that type's number on its other side; the value twice where it is one of them.
    pub fn neighbours(&self, value: f64) -> [f64; 2] {
        if !self.is_single() {
            return [value; 2];
        }
        let nearest = value as f32;
        let other = match f64::from(nearest).total_cmp(&value) {
            Ordering::Less => nearest.next_up(),
            Ordering::Equal => nearest,
            Ordering::Greater => nearest.next_down(),
        };
        [nearest.into(), other.into()]
    }

    /// NumPy's name of the element type.
    pub fn element(&self) -> &'static str {
        match self {
            Self::F32(_) => f32::NAME,
            Self::F64(_) => f64::NAME,
            Self::Cast(view) => view.element(),
        }
    }

    /// Element `(row, col)`.
    pub fn get(&self, row: usize, col: usize) -> f64 {
        match self {
            Self::F32(view) => view.get(row, col).into(),
            Self::F64(view) => view.get(row, col),
            Self::Cast(view) => view.get(row, col),
        }
    }

    /// Some of the columns.
    #[must_use]
    pub fn cols(&self, range: Range<usize>) -> Self {
        match self {
            Self::F32(view) => Self::F32(view.cols(range)),
            Self::F64(view) => Self::F64(view.cols(range)),
            Self::Cast(view) => Self::Cast(view.cols(range)),
        }
    }

    /// Some of the rows.
    #[must_use]
    pub fn rows(&self, range: Range<usize>) -> Self {
        match self {
            Self::F32(view) => Self::F32(view.rows(range)),
            Self::F64(view) => Self::F64(view.rows(range)),
            Self::Cast(view) => Self::Cast(view.rows(range)),
        }
    }
}

impl HostMatrixMut<'_> {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::F32(view) => view.n_rows(),
            Self::F64(view) => view.n_rows(),
        }
    }

    /// How many columns.
    pub fn n_cols(&self) -> usize {
        match self {
            Self::F32(view) => view.n_cols(),
            Self::F64(view) => view.n_cols(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Views of 5 by 4 elements in all sorts of order: offset and strides.
    const LAYOUTS: [(usize, [isize; 2]); 9] = [
        (0, [4, 1]),
        (3, [7, 1]),
        (0, [1, 5]),
        (2, [2, 11]),
        (16, [-4, 1]),
        (3, [4, -1]),
        (19, [-4, -1]),
        (6, [0, 1]),
        (6, [0, 0]),
    ];
    const SHAPE: [usize; 2] = [5, 4];

    fn counted() -> Vec<f64> {
        (0..60).map(f64::from).collect()
    }

    fn at(offset: usize, strides: [isize; 2], row: usize, col: usize) -> f64 {
        (offset as isize + row as isize * strides[0] + col as isize * strides[1]) as f64
    }

    fn places(rows: Range<usize>, cols: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        rows.flat_map(move |row| cols.clone().map(move |col| (row, col)))
    }

    #[test]
    fn views_see_what_their_strides_say() {
        let values = counted();
        for (offset, strides) in LAYOUTS {
            let view = MatrixView::strided(&values, offset, SHAPE, strides).expect("it is within reach");
            let expected = |rows: Range<usize>, cols: Range<usize>| -> Vec<f64> {
                places(rows, cols)
                    .map(|(row, col)| at(offset, strides, row, col))
                    .collect()
            };
            let packed = |view: MatrixView<'_, f64>| view.packed(&mut vec![9.0; 3]).to_vec();
            assert_eq!(packed(view), expected(0..5, 0..4), "{strides:?}");
            assert_eq!(packed(view.rows(1..4)), expected(1..4, 0..4), "{strides:?}");
            assert_eq!(packed(view.cols(2..4)), expected(0..5, 2..4), "{strides:?}");
            assert_eq!(packed(view.rows(4..5).cols(3..4)), expected(4..5, 3..4), "{strides:?}");
            assert_eq!(packed(view.rows(2..2)), [0.0; 0], "{strides:?}");
            let flipped = view.transposed();
            for (row, col) in places(0..5, 0..4) {
                assert_eq!(view.get(row, col), at(offset, strides, row, col));
                assert_eq!(flipped.get(col, row), view.get(row, col));
            }
            assert_eq!(view.as_slice().is_some(), strides == [4, 1], "{strides:?}");
            let row = view.row_slice(2).map(<[f64]>::to_vec);
            assert_eq!(row, (strides[1] == 1).then(|| expected(2..3, 0..4)), "{strides:?}");
            assert!(view.is_same_as(&view) && !view.is_same_as(&view.rows(0..4)));
        }
    }

    #[test]
    fn views_beyond_their_memory_are_refused() {
        let values = counted();
        for (offset, [n_rows, n_cols], strides) in [
            (41, SHAPE, [4, 1]),
            (0, [6, 4], [13, 1]),
            (15, SHAPE, [-4, 1]),
            (2, SHAPE, [4, -1]),
            (60, [1, 1], [0, 0]),
        ] {
            let found = MatrixView::strided(&values, offset, [n_rows, n_cols], strides);
            assert!(
                matches!(found, Err(Error::Shape { found: 60, .. })),
                "{offset} {strides:?}: {found:?}"
            );
        }
        assert!(
            MatrixView::strided(&values, 40, SHAPE, [4, 1]).is_ok(),
            "it ends where the memory does"
        );
        assert!(
            MatrixView::strided(&values, 999, [0, 4], [4, 1]).is_ok(),
            "nothing is nowhere"
        );
        assert!(MatrixView::new(&values, 6, 9).is_err());
    }

    /// The same 6 by 7 elements in rows, in columns, and from the last to the first.
    fn three_ways<T: Real>(values: &[T]) -> [MatrixView<'_, T>; 3] {
        [(0, [7, 1]), (0, [1, 6]), (41, [-7, -1])]
            .map(|(offset, strides)| MatrixView::strided(values, offset, [6, 7], strides).expect("it is within reach"))
    }

    fn finds_what_is_not_finite<T: Real>() {
        let number = |value: f64| T::from_f64(value);
        let mut values = vec![number(1.0); 42];
        values[5] = number(f64::from(f32::MAX));
        values[6] = number(f64::from(f32::MAX));
        assert!(
            three_ways(&values).iter().all(MatrixView::is_finite),
            "sums may overflow"
        );
        for place in 0..values.len() {
            let kept = std::mem::replace(&mut values[place], number(f64::NAN));
            assert!(!three_ways(&values).iter().any(MatrixView::is_finite), "NaN at {place}");
            assert!(
                three_ways(&values).iter().all(|view| view.is_welcome(true)),
                "NaN at {place}"
            );
            for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
                values[place] = number(infinity);
                assert!(
                    !three_ways(&values).iter().any(MatrixView::is_finite),
                    "{infinity} at {place}"
                );
                assert!(
                    !three_ways(&values).iter().any(|view| view.is_welcome(true)),
                    "{infinity} at {place}"
                );
            }
            values[place] = kept;
        }
    }

    #[test]
    fn what_is_not_finite_is_found_wherever_it_is() {
        finds_what_is_not_finite::<f32>();
        finds_what_is_not_finite::<f64>();
    }

    #[test]
    fn what_is_not_finite_is_found_by_all_threads() {
        let mut values = vec![0.0_f32; 5 * SHARE];
        for place in [0, SHARE - 1, SHARE, 3 * SHARE + 7, 5 * SHARE - 1] {
            values[place] = f32::NAN;
            for n_cols in [1, 5, 5 * SHARE] {
                let view = MatrixView::new(&values, values.len() / n_cols, n_cols).expect("whole rows");
                assert!(!view.is_finite(), "{place} in rows of {n_cols}");
                assert!(view.is_welcome(true), "{place} in rows of {n_cols}");
            }
            values[place] = 0.0;
        }
        assert!(MatrixView::new(&values, 5, SHARE).expect("whole rows").is_finite());
    }

    #[test]
    fn rows_are_written_where_they_lie() {
        let mut values = [0.0_f32; 12];
        let mut matrix = MatrixViewMut::new(&mut values, 3).expect("whole rows");
        matrix.rows(1..3).rows(1..2).values().fill(7.0);
        assert_eq!((matrix.n_rows(), matrix.n_cols()), (4, 3));
        assert_eq!(matrix.as_view().row_slice(2), Some(&[7.0; 3][..]));
        assert_eq!(values.iter().sum::<f32>(), 21.0);
        assert!(MatrixViewMut::new(&mut values, 5).is_err());
        assert!(MatrixViewMut::new(&mut values, 0).is_err());
    }
}
