//! The one door between Python and the engines: each function borrows NumPy's memory, names a job, and runs it without the GIL.

mod array;
mod device;
mod error;
mod estimators;

use metalml::run::{Job, Target};
use pyo3::prelude::*;

/// The engines of `metalml`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::device::{Device, adapters, open_device};
    #[pymodule_export]
    use crate::error::{
        BackendUnavailableError, DeviceError, InternalError, MetalUnavailableError, NonFiniteError, UnsuitedError,
    };
    #[pymodule_export]
    use crate::estimators::{
        class_moments, class_sums, column_ranges, column_statistics, covariance_of, elastic_net_fit, gaussian_scores,
        least_squares_fit, linear_predict, normalize_rows, ridge_fit, scale_columns,
    };

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Run a job without the GIL; a panic becomes `InternalError`, and Ctrl-C that came meanwhile is raised.
fn run<'a, J: Job<'a>>(py: Python<'_>, device: Option<&'a device::Device>, job: J) -> PyResult<J::Output> {
    static NATIVE: Target = Target::Native;
    let target = device.map_or(&NATIVE, device::Device::target);
    let outcome = py.detach(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target.run(job))));
    py.check_signals()?;
    match outcome {
        Ok(result) => result.map_err(error::raised),
        Err(panic) => Err(error::from_panic(&*panic)),
    }
}
