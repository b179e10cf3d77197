//! Errors of the core as Python exceptions: all of it.

use metalml::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyArithmeticError, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    metalml,
    BackendUnavailableError,
    PyRuntimeError,
    "The backend that was asked for cannot run this call."
);
create_exception!(
    metalml,
    MetalUnavailableError,
    BackendUnavailableError,
    "Metal was asked for and cannot run this call."
);
create_exception!(
    metalml,
    DeviceError,
    PyRuntimeError,
    "The GPU stopped answering; the next call opens it anew."
);
create_exception!(metalml, InternalError, PyRuntimeError, "A defect of metalml.");
// The two below never reach a user: the Python side turns them into scikit-learn's own error, or into scikit-learn's own fit.
create_exception!(
    metalml,
    NonFiniteError,
    PyValueError,
    "An input holds NaN or infinity where none may be."
);
create_exception!(
    metalml,
    UnsuitedError,
    PyArithmeticError,
    "The data cannot be reduced in this precision."
);

/// The exception for an error.
pub(crate) fn raised(error: Error) -> PyErr {
    match error {
        Error::NoDevice { reason } => BackendUnavailableError::new_err(reason),
        Error::DeviceLost { .. } => DeviceError::new_err(error.to_string()),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        Error::NonFinite { what } => NonFiniteError::new_err(what),
        Error::Unsuited { reason } => UnsuitedError::new_err(reason),
        // A matrix that the device cannot hold is known only when it is laid out; scikit-learn can take it.
        Error::TooLarge { .. } | Error::NotPositiveDefinite { .. } => UnsuitedError::new_err(error.to_string()),
        Error::Shape { .. } | Error::InvalidParam { .. } => PyValueError::new_err(error.to_string()),
        _ => InternalError::new_err(error.to_string()),
    }
}

/// The exception for a panic that escaped.
pub(crate) fn from_panic(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    raised(Error::Internal(said.unwrap_or("a panic").to_owned()))
}
