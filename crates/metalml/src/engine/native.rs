//! The native engine: memory is host memory, and every step has run when its call returns.

use std::borrow::Cow;
use std::marker::PhantomData;

use bytemuck::Pod;

use super::{Border, Input, Real, Rows, Shape, Storage, all};
use crate::matrix::{HostMatrix, HostMatrixMut, MatrixView, MatrixViewMut};
use crate::{Error, Result};

/// The CPU, computing in `T`.
#[derive(Debug, Default)]
pub struct Native<'a, T> {
    data: PhantomData<&'a [T]>,
}

/// The caller's matrix, or one made here.
#[derive(Debug)]
pub enum NativeMatrix<'a, T> {
    /// The caller's.
    Borrowed(MatrixView<'a, T>),
    /// Row-major values and the number of columns.
    Owned(Vec<T>, usize),
}

impl<T: Real> NativeMatrix<'_, T> {
    /// The values, to read.
    pub fn view(&self) -> MatrixView<'_, T> {
        match self {
            Self::Borrowed(view) => *view,
            Self::Owned(values, n_cols) => {
                let n_rows = values.len().checked_div(*n_cols).unwrap_or(0);
                MatrixView::new(values, n_rows, *n_cols).unwrap_or_else(|_| unreachable!("whole rows"))
            }
        }
    }
}

impl<T: Real> Shape for NativeMatrix<'_, T> {
    fn n_rows(&self) -> usize {
        self.view().n_rows()
    }
    fn n_cols(&self) -> usize {
        self.view().n_cols()
    }
}

/// Which of the two host element types this is.
pub trait OnHost: Real {
    /// The matrix, if its elements are of this type.
    fn view(host: HostMatrix<'_>) -> Option<MatrixView<'_, Self>>;
    /// The matrix, if its elements are of this type.
    fn view_mut(host: HostMatrixMut<'_>) -> Option<MatrixViewMut<'_, Self>>;
}

impl OnHost for f32 {
    fn view(host: HostMatrix<'_>) -> Option<MatrixView<'_, Self>> {
        if let HostMatrix::F32(view) = host {
            Some(view)
        } else {
            None
        }
    }
    fn view_mut(host: HostMatrixMut<'_>) -> Option<MatrixViewMut<'_, Self>> {
        if let HostMatrixMut::F32(view) = host {
            Some(view)
        } else {
            None
        }
    }
}

impl OnHost for f64 {
    fn view(host: HostMatrix<'_>) -> Option<MatrixView<'_, Self>> {
        if let HostMatrix::F64(view) = host {
            Some(view)
        } else {
            None
        }
    }
    fn view_mut(host: HostMatrixMut<'_>) -> Option<MatrixViewMut<'_, Self>> {
        if let HostMatrixMut::F64(view) = host {
            Some(view)
        } else {
            None
        }
    }
}

fn other_element(found: &str) -> Error {
    Error::Internal(format!("{found} came to an engine of the other element type"))
}

impl<T> Native<'_, T> {
    /// An engine for one call.
    pub fn new() -> Self {
        Self { data: PhantomData }
    }
}

impl<'a, T: OnHost> Storage for Native<'a, T> {
    type Elem = T;
    type Wide = f64;
    type Array<U: Pod> = Cow<'a, [U]>;
    type Matrix = NativeMatrix<'a, T>;
    type MatrixMut<'m>
        = MatrixViewMut<'m, T>
    where
        Self: 'm;
    type Pending = Vec<u8>;

    fn upload<U: Pod>(&self, values: &[U]) -> Result<Cow<'a, [U]>> {
        Ok(values.to_vec().into())
    }
    fn wide(value: f64) -> f64 {
        value
    }
    fn create(&self, n_rows: usize, n_cols: usize) -> Result<NativeMatrix<'a, T>> {
        Ok(NativeMatrix::Owned(vec![T::default(); n_rows * n_cols], n_cols))
    }
    fn create_beside(&self, other: &NativeMatrix<'a, T>, n_cols: usize) -> Result<NativeMatrix<'a, T>> {
        self.create(other.n_rows(), n_cols)
    }
    fn resident<const N: usize>(&self, values: [&[T]; N], _: usize, n_cols: [usize; N]) -> Result<[Self::Matrix; N]> {
        let mut n_cols = n_cols.into_iter();
        Ok(values.map(|values| NativeMatrix::Owned(values.to_vec(), n_cols.next().unwrap_or_default())))
    }
    fn write<'m>(matrix: &'m mut NativeMatrix<'a, T>) -> MatrixViewMut<'m, T>
    where
        Self: 'm,
    {
        match matrix {
            NativeMatrix::Owned(values, n_cols) => {
                MatrixViewMut::new(values, (*n_cols).max(1)).unwrap_or_else(|_| unreachable!("whole rows"))
            }
            NativeMatrix::Borrowed(_) => unreachable!("only what `create` made is written"),
        }
    }
    fn read<U: Pod>(&self, array: &Cow<'a, [U]>) -> Result<Vec<u8>> {
        Ok(bytemuck::cast_slice(array).to_vec())
    }
    fn wait<U: Pod>(&self, pending: Vec<u8>) -> Result<Vec<U>> {
        Ok(bytemuck::pod_collect_to_vec(&pending))
    }
    fn fetch_matrix(&self, matrix: &NativeMatrix<'a, T>) -> Result<Vec<f64>> {
        let mut scratch = Vec::new();
        Ok(matrix
            .view()
            .packed(&mut scratch)
            .iter()
            .map(|&value| value.into())
            .collect())
    }
}

impl<'a, T: OnHost> Border<'a> for Native<'a, T> {
    fn bring<const N: usize>(&self, inputs: [Input<'a>; N]) -> Result<[NativeMatrix<'a, T>; N]> {
        let matrices = inputs.map(|input| {
            let matrix = match input.host {
                HostMatrix::Cast(view) => NativeMatrix::Owned(view.converted(), view.n_cols()),
                host => NativeMatrix::Borrowed(T::view(host).ok_or_else(|| other_element(host.element()))?),
            };
            if !input.told_by_kernel && !matrix.view().is_welcome(input.nan) {
                return Err(Error::NonFinite { what: input.what });
            }
            Ok(matrix)
        });
        all(matrices)
    }

    fn stream(
        &self,
        rows: Rows<'a>,
        mut step: impl FnMut(&NativeMatrix<'a, T>, &mut MatrixViewMut<'_, T>) -> Result<()>,
    ) -> Result<()> {
        match rows {
            Rows::Apart(input, out) => {
                let [x] = self.bring([input])?;
                let mut out = T::view_mut(out).ok_or_else(|| other_element("an output"))?;
                step(&x, &mut out)
            }
            Rows::Same(out) => {
                look_over(&out.as_view())?;
                let mut out = T::view_mut(out).ok_or_else(|| other_element("an output"))?;
                let (n_rows, n_cols) = (out.n_rows(), out.n_cols());
                let rows_per_block = (IN_PLACE_BYTES / (size_of::<T>() * n_cols)).max(1);
                for start in (0..n_rows).step_by(rows_per_block) {
                    let mut block = out.rows(start..(start + rows_per_block).min(n_rows));
                    let x = NativeMatrix::Owned(block.values().to_vec(), n_cols);
                    step(&x, &mut block)?;
                }
                Ok(())
            }
        }
    }
}

/// Before rows are changed in place: NaN may pass, an infinity is refused while all are still as they were.
pub(super) fn look_over(rows: &HostMatrix<'_>) -> Result<()> {
    let welcome = match *rows {
        HostMatrix::F32(view) => view.is_welcome(true),
        HostMatrix::F64(view) => view.is_welcome(true),
        // Only what is computed in can be written to.
        HostMatrix::Cast(_) => true,
    };
    if welcome {
        Ok(())
    } else {
        Err(Error::NonFinite { what: "X" })
    }
}

/// Rows changed in place are read from a copy of this size.
const IN_PLACE_BYTES: usize = 1 << 20;
