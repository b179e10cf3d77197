//! NumPy's arrays as the core borrows them.
#![expect(
    unsafe_code,
    reason = "NumPy's memory is reached through its pointer, shape and strides"
)]

use half::f16;
use metalml::matrix::{CastMatrix, HostMatrix, HostMatrixMut, MatrixView, MatrixViewMut};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::raised;

/// A borrowed matrix; a vector is one column. Any real number type, any strides in whole elements.
pub(crate) fn host<'a>(array: &'a Bound<'_, PyUntypedArray>, name: &str) -> PyResult<HostMatrix<'a>> {
    if let Ok(array) = array.cast::<PyArrayDyn<f32>>() {
        return Ok(HostMatrix::F32(view(array, name)?));
    }
    if let Ok(array) = array.cast::<PyArrayDyn<f64>>() {
        return Ok(HostMatrix::F64(view(array, name)?));
    }
    macro_rules! cast {
        ($($element:ty => $variant:ident),*) => {
            $(if let Ok(array) = array.cast::<PyArrayDyn<$element>>() {
                return Ok(HostMatrix::Cast(CastMatrix::$variant(view(array, name)?)));
            })*
        };
    }
    cast!(i64 => I64, i32 => I32, u8 => U8, bool => Bool, f16 => F16, i8 => I8, i16 => I16, u16 => U16, u32 => U32, u64 => U64);
    Err(PyTypeError::new_err(format!(
        "`{name}` is {}, allowed are real numbers of up to 64 bits",
        array.dtype()
    )))
}

/// A matrix to write to: C-contiguous and writable.
pub(crate) fn host_mut<'a>(array: &'a Bound<'_, PyUntypedArray>, name: &str) -> PyResult<HostMatrixMut<'a>> {
    if let Ok(array) = array.cast::<PyArrayDyn<f32>>() {
        return Ok(HostMatrixMut::F32(view_mut(array, name)?));
    }
    if let Ok(array) = array.cast::<PyArrayDyn<f64>>() {
        return Ok(HostMatrixMut::F64(view_mut(array, name)?));
    }
    Err(PyTypeError::new_err(format!(
        "`{name}` is {}, allowed are float32 and float64",
        array.dtype()
    )))
}

fn shape_of(shape: &[usize], name: &str) -> PyResult<[usize; 2]> {
    match *shape {
        [n_rows] => Ok([n_rows, 1]),
        [n_rows, n_cols] => Ok([n_rows, n_cols]),
        _ => Err(PyValueError::new_err(format!(
            "`{name}` has {} dimensions, allowed are 1 and 2",
            shape.len()
        ))),
    }
}

fn view<'a, T: Element + Copy>(array: &'a Bound<'_, PyArrayDyn<T>>, name: &str) -> PyResult<MatrixView<'a, T>> {
    let [n_rows, n_cols] = shape_of(array.shape(), name)?;
    let size = size_of::<T>() as isize;
    let bytes = array.strides();
    if bytes.iter().any(|stride| stride % size != 0) || !array.data().is_aligned() {
        return Err(PyValueError::new_err(format!(
            "`{name}` does not lie in whole elements"
        )));
    }
    let strides = [bytes[0] / size, bytes.get(1).map_or(1, |stride| stride / size)];
    if n_rows == 0 || n_cols == 0 {
        return MatrixView::strided(&[], 0, [n_rows, n_cols], strides).map_err(raised);
    }
    // The memory between the lowest and the highest element.
    let reach = [(n_rows - 1) as isize * strides[0], (n_cols - 1) as isize * strides[1]];
    let below: isize = reach.iter().map(|reach| (*reach).min(0)).sum();
    let above: isize = reach.iter().map(|reach| (*reach).max(0)).sum();
    // SAFETY: NumPy vouches that every element between these bounds lies in one allocation, which the caller's reference keeps;
    // like NumPy's own functions without the GIL, we trust the user not to write to it meanwhile.
    let values =
        unsafe { std::slice::from_raw_parts(array.data().offset(below).cast_const(), (above - below) as usize + 1) };
    MatrixView::strided(values, below.unsigned_abs(), [n_rows, n_cols], strides).map_err(raised)
}

fn view_mut<'a, T: Element + metalml::engine::Real>(
    array: &'a Bound<'_, PyArrayDyn<T>>,
    name: &str,
) -> PyResult<MatrixViewMut<'a, T>> {
    let [_, n_cols] = shape_of(array.shape(), name)?;
    let flags = array
        .try_readwrite()
        .map_err(|_| PyValueError::new_err(format!("`{name}` cannot be written to")))?;
    if !array.is_c_contiguous() || !array.data().is_aligned() {
        return Err(PyValueError::new_err(format!("`{name}` is not C-contiguous")));
    }
    drop(flags);
    // SAFETY: the array is writable, contiguous and kept by the caller's reference, and it is only lent to one job.
    let values = unsafe { std::slice::from_raw_parts_mut(array.data(), array.len()) };
    MatrixViewMut::new(values, n_cols.max(1)).map_err(raised)
}
