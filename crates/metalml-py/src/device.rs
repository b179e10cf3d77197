//! Devices as Python sees them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use metalml::device::{self, AdapterFacts, Request, Verdict};
use metalml::kernels::{
    FAMILIES, Family, column_stats, float_probe, gaussian_scores, gram, linear_map, matmul, nearest, normalize_rows,
    scale_shift, segment_sums,
};
use metalml::run::Target;
use metalml::self_test;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{from_panic, raised};

/// An opened GPU, shared by all calls of a process.
#[pyclass(frozen, module = "metalml._core")]
pub(crate) struct Device {
    device: Arc<device::Device>,
    target: Target,
}

fn described<'py>(py: Python<'py>, facts: &AdapterFacts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &facts.name)?;
    dict.set_item("api", facts.api)?;
    dict.set_item("kind", facts.kind.name())?;
    dict.set_item("driver", &facts.driver)?;
    Ok(dict)
}

/// Run driver code without the GIL; what it panics with becomes `InternalError`.
fn apart<R: Send>(py: Python<'_>, work: impl FnOnce() -> metalml::Result<R> + Send) -> PyResult<R> {
    match py.detach(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))) {
        Ok(result) => result.map_err(raised),
        Err(panic) => Err(from_panic(&*panic)),
    }
}

/// Every adapter, the fastest kind first. Loads the drivers.
#[pyfunction]
pub(crate) fn adapters(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let found = apart(py, || Ok(device::adapters()))?;
    found.iter().map(|facts| described(py, facts)).collect()
}

/// The device that is meant, opened at its first use in this process.
#[pyfunction]
#[pyo3(signature = (api, selector, software))]
pub(crate) fn open_device(
    py: Python<'_>,
    api: Option<String>,
    selector: Option<String>,
    software: bool,
) -> PyResult<Device> {
    let request = Request {
        api,
        selector,
        software,
    };
    let device = apart(py, || device::open(&request))?;
    Ok(Device {
        target: Target::Gpu(device.clone()),
        device,
    })
}

/// What an operation stands on, and the device memory it takes beside its input, in elements.
fn needs(operation: &str, n_rows: u64, n_cols: u64, n_targets: u64) -> Option<(&'static [&'static Family], u64)> {
    const RING: u64 = 3 * (32 << 20);
    Some(match operation {
        "column_statistics" | "column_ranges" => (&[&column_stats::FAMILY], n_rows * n_cols),
        "scale_columns" => (&[&scale_shift::FAMILY], RING / 2),
        "normalize_rows" => (&[&normalize_rows::FAMILY], RING / 2),
        "class_moments" => (
            &[&column_stats::FAMILY, &segment_sums::FAMILY],
            n_rows * (n_cols + 4) + 2 * n_targets * n_cols + RING,
        ),
        "class_sums" => (
            &[&segment_sums::FAMILY],
            n_rows * (n_cols + 4) + 2 * n_targets * n_cols + RING,
        ),
        "gaussian_scores" => (&[&gaussian_scores::FAMILY], RING / 2 + 3 * n_cols * n_targets),
        "covariance_of" | "shrinkage_of" => (
            &[&column_stats::FAMILY, &gram::FAMILY, &nearest::FAMILY],
            n_rows * (n_cols + 2) + 2 * n_cols * n_cols + RING,
        ),
        "ridge_fit" if n_rows < n_cols => (
            &[&column_stats::FAMILY, &matmul::FAMILY, &scale_shift::FAMILY],
            n_rows * n_rows + n_rows * n_targets + RING,
        ),
        "ridge_fit" | "elastic_net_fit" => (
            &[&column_stats::FAMILY, &gram::FAMILY],
            n_rows * (n_cols + n_targets + 1) + 2 * n_cols * (n_cols + n_targets) + RING,
        ),
        "least_squares_fit" => (
            &[
                &column_stats::FAMILY,
                &gram::FAMILY,
                &linear_map::FAMILY,
                &matmul::FAMILY,
            ],
            n_rows * (n_cols + 2 * n_targets + 1) + 2 * n_cols * (n_cols + n_targets) + RING,
        ),
        "linear_predict" => (&[&linear_map::FAMILY], RING / 2 + n_cols * n_targets),
        _ => return None,
    })
}

#[pymethods]
impl Device {
    #[getter]
    fn name(&self) -> &str {
        &self.device.facts().name
    }

    #[getter]
    fn api(&self) -> &str {
        self.device.facts().api
    }

    #[getter]
    fn kind(&self) -> &str {
        self.device.facts().kind.name()
    }

    #[getter]
    fn driver(&self) -> &str {
        &self.device.facts().driver
    }

    /// Why this device cannot run an operation of this size, or None. Tests its kernels at their first use.
    fn refusal(
        &self,
        py: Python<'_>,
        operation: &str,
        n_rows: u64,
        n_cols: u64,
        n_targets: u64,
    ) -> PyResult<Option<String>> {
        let Some((families, elements)) = needs(operation, n_rows, n_cols, n_targets) else {
            return Ok(Some(format!("`{operation}` has no GPU form")));
        };
        let (wanted, limit) = (4 * elements, self.device.limits().memory);
        if wanted > limit {
            let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
            return Ok(Some(format!(
                "it needs {:.1} GiB on the GPU, which has {:.1} GiB for us",
                gib(wanted),
                gib(limit)
            )));
        }
        apart(py, || self_test::refusal(&self.device, families))
    }

    /// What the device is, allows, has done, and how its kernels did in their self-tests. Runs the float probe.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = described(py, self.device.facts())?;
        info.set_item("limits", self.limits(py)?)?;
        info.set_item("memory", self.memory(py)?)?;
        info.set_item("counts", self.counts(py)?)?;
        info.set_item("float_probe", self.float_probe(py)?)?;
        info.set_item("self_test", self.self_test(py)?)?;
        Ok(info)
    }
}

impl Device {
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    fn limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (limits, dict) = (self.device.limits(), PyDict::new(py));
        dict.set_item("largest_array_bytes", limits.max_binding)?;
        dict.set_item("block_bytes", limits.block)?;
        dict.set_item("workgroups_per_dimension", limits.max_groups)?;
        dict.set_item("threads_per_workgroup", limits.max_threads)?;
        Ok(dict)
    }

    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ((in_use, pooled), dict) = (self.device.memory_in_use(), PyDict::new(py));
        dict.set_item("in_use_bytes", in_use)?;
        dict.set_item("pooled_bytes", pooled)?;
        dict.set_item("limit_bytes", self.device.limits().memory)?;
        Ok(dict)
    }

    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (counts, dict) = (self.device.counts(), PyDict::new(py));
        dict.set_item("submissions", counts.submissions.load(Ordering::Relaxed))?;
        dict.set_item("dispatches", counts.dispatches.load(Ordering::Relaxed))?;
        dict.set_item("pipelines", self.device.compiled())?;
        dict.set_item("uploaded_bytes", counts.uploaded.load(Ordering::Relaxed))?;
        dict.set_item("downloaded_bytes", counts.downloaded.load(Ordering::Relaxed))?;
        Ok(dict)
    }

    fn float_probe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = apart(py, || float_probe::probe(&self.device))?;
        let dict = PyDict::new(py);
        dict.set_item("exact_two_sum", facts.exact_two_sum)?;
        dict.set_item("fused_multiply_add", facts.fused_multiply_add)?;
        dict.set_item("denormals", facts.denormals)?;
        dict.set_item("nan_compares", facts.nan_compares)?;
        dict.set_item("nan_bits", facts.nan_bits)?;
        dict.set_item("infinity", facts.infinity)?;
        Ok(dict)
    }

    fn self_test<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for kernel in FAMILIES.iter().flat_map(|family| family.kernels) {
            let verdict = match self.device.trust().of(kernel.fingerprint) {
                None => "not run".to_owned(),
                Some(Verdict::Passed) => "passed".to_owned(),
                Some(Verdict::Failed(why)) => format!("failed: {why}"),
            };
            dict.set_item(kernel.name, verdict)?;
        }
        Ok(dict)
    }
}
