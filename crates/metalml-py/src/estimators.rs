//! One function a job.

use metalml::algorithms::{
    column_range, covariance, elastic_net, linear, naive_bayes, normalizer, ridge, standard_scaler,
};
use metalml::engine::{Input, Rows};
use metalml::kernels::normalize_rows::RowNorm;
use metalml::kernels::scale_shift::Affine;
use metalml::matrix::HostMatrix;
use metalml::solvers::products::Labelled;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{host, host_mut};
use crate::device::Device;
use crate::error::raised;
use crate::run;

type Floats<'py> = Bound<'py, PyUntypedArray>;
type Doubles<'py> = Bound<'py, PyArray1<f64>>;

fn optional<'a>(array: Option<&'a Floats<'_>>, name: &str) -> PyResult<Option<HostMatrix<'a>>> {
    array.map(|array| host(array, name)).transpose()
}

/// Weight, mean and variance of each column, NaN left out.
#[pyfunction]
#[pyo3(signature = (x, sample_weight, device))]
pub(crate) fn column_statistics<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    sample_weight: Option<&Floats<'py>>,
    device: Option<&Device>,
) -> PyResult<(Doubles<'py>, Doubles<'py>, Doubles<'py>)> {
    let job = standard_scaler::Statistics {
        x: host(x, "X")?,
        weights: optional(sample_weight, "sample_weight")?,
    };
    let found = run(py, device, job)?;
    let per_weight = |sums: &[f64]| -> Vec<f64> {
        // A column without a value has no mean and no variance.
        sums.iter()
            .zip(&found.weight)
            .map(|(sum, weight)| if *weight == 0.0 { f64::NAN } else { sum / weight })
            .collect()
    };
    let variance = per_weight(&found.scatter);
    let mean = found
        .mean
        .iter()
        .zip(&found.weight)
        .map(|(mean, weight)| if *weight == 0.0 { f64::NAN } else { *mean });
    Ok((
        found.weight.clone().into_pyarray(py),
        mean.collect::<Vec<_>>().into_pyarray(py),
        variance.into_pyarray(py),
    ))
}

/// The least and the greatest value of each column, and how many values are not NaN.
#[pyfunction]
#[pyo3(signature = (x, device))]
pub(crate) fn column_ranges<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    device: Option<&Device>,
) -> PyResult<(Doubles<'py>, Doubles<'py>, Doubles<'py>)> {
    let found = run(py, device, column_range::ColumnRange { x: host(x, "X")? })?;
    Ok((
        found.least.into_pyarray(py),
        found.greatest.into_pyarray(py),
        found.count.into_pyarray(py),
    ))
}

/// Mean (d,) and covariance (d, d) of the columns, and the mean over the rows of the fourth power of their length, if it is wanted.
#[pyfunction]
#[pyo3(signature = (x, about_mean, fourth_powers, device))]
pub(crate) fn covariance_of<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    about_mean: bool,
    fourth_powers: bool,
    device: Option<&Device>,
) -> PyResult<(Doubles<'py>, Bound<'py, PyAny>, f64)> {
    let x = host(x, "X")?;
    let job = covariance::Covariance {
        x,
        about_mean,
        fourth_powers,
    };
    let found = run(py, device, job)?;
    let covariance = found
        .covariance
        .into_pyarray(py)
        .call_method1("reshape", ((x.n_cols(), x.n_cols()),))?;
    Ok((found.mean.into_pyarray(py), covariance, found.fourth_powers))
}

type Labels<'py> = Bound<'py, PyArray1<u32>>;

/// Weight (k,), mean and variance (k, d) of the columns of each class, and the greatest variance of a column of all rows.
#[pyfunction]
#[pyo3(signature = (x, labels, n_classes, sample_weight, device))]
pub(crate) fn class_moments<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    labels: &Labels<'py>,
    n_classes: usize,
    sample_weight: Option<&Floats<'py>>,
    device: Option<&Device>,
) -> PyResult<(Doubles<'py>, Bound<'py, PyAny>, Bound<'py, PyAny>, f64)> {
    let (x, labels) = (host(x, "X")?, labels.readonly());
    let job = naive_bayes::ClassMoments {
        x,
        labels: labels.as_slice()?,
        n_classes,
        weights: optional(sample_weight, "sample_weight")?,
    };
    let found = run(py, device, job)?;
    let table = |values: Vec<f64>| {
        values
            .into_pyarray(py)
            .call_method1("reshape", ((n_classes, x.n_cols()),))
    };
    Ok((
        found.weight.into_pyarray(py),
        table(found.mean)?,
        table(found.variance)?,
        found.greatest_variance,
    ))
}

/// The sums of the weights, or how many rows, and of the columns of each class: (k, 1 + d).
#[pyfunction]
#[pyo3(signature = (x, labels, n_classes, sample_weight, device))]
pub(crate) fn class_sums<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    labels: &Labels<'py>,
    n_classes: usize,
    sample_weight: Option<&Floats<'py>>,
    device: Option<&Device>,
) -> PyResult<Bound<'py, PyAny>> {
    let (x, labels) = (host(x, "X")?, labels.readonly());
    let job = naive_bayes::ClassSums {
        x,
        labels: labels.as_slice()?,
        n_classes,
        weights: optional(sample_weight, "sample_weight")?,
    };
    run(py, device, job)?
        .into_pyarray(py)
        .call_method1("reshape", ((n_classes, 1 + x.n_cols()),))
}

/// `out` (n, k) = the logarithm of how likely each row is in each class of independent Gaussian columns.
#[pyfunction]
#[pyo3(signature = (x, mean, variance, log_prior, out, device))]
pub(crate) fn gaussian_scores<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    mean: &Bound<'py, PyArray2<f64>>,
    variance: &Bound<'py, PyArray2<f64>>,
    log_prior: &Doubles<'py>,
    out: &Floats<'py>,
    device: Option<&Device>,
) -> PyResult<()> {
    let (x, out) = (host(x, "X")?, host_mut(out, "out")?);
    let (mean, variance, log_prior) = (mean.readonly(), variance.readonly(), log_prior.readonly());
    let (log_prior, n_cols) = (log_prior.as_slice()?, x.n_cols());
    for (name, found) in [("mean", &mean), ("variance", &variance)] {
        if found.shape() != [log_prior.len(), n_cols] {
            return Err(shape(name, log_prior.len() * n_cols, found.len()));
        }
    }
    if (out.n_rows(), out.n_cols()) != (x.n_rows(), log_prior.len()) {
        return Err(shape("out", x.n_rows() * log_prior.len(), out.n_rows() * out.n_cols()));
    }
    let job = naive_bayes::GaussianScores {
        x,
        mean: mean.as_slice()?,
        variance: variance.as_slice()?,
        log_prior,
        out,
    };
    run(py, device, job)
}

/// `out` = the rows of `x`, each divided by its norm, `l1`, `l2` or `max`; `out` may be `x` itself.
#[pyfunction]
#[pyo3(signature = (x, out, norm, device))]
pub(crate) fn normalize_rows<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    out: &Floats<'py>,
    norm: &str,
    device: Option<&Device>,
) -> PyResult<()> {
    let norm = match norm {
        "l1" => RowNorm::L1,
        "l2" => RowNorm::L2,
        "max" => RowNorm::Max,
        _ => {
            return Err(PyValueError::new_err(format!(
                "`norm` is {norm:?}; it can be `l1`, `l2`, `max`"
            )));
        }
    };
    let source = host(x, "X")?;
    if x.shape() != out.shape() {
        return Err(shape("out", x.len(), out.len()));
    }
    // In place, a matrix of no rows stands for the element type: the data are only reached through `out`.
    let (rows, element) = if x.is(out) {
        (Rows::Same(host_mut(out, "out")?), source.rows(0..0))
    } else {
        (Rows::Apart(Input::finite(source, "X"), host_mut(out, "out")?), source)
    };
    run(py, device, normalizer::Normalize { rows, norm, element })
}

/// `out = (x - mean) / scale`, or `x * scale + mean`; `out` may be `x` itself.
#[pyfunction]
#[pyo3(signature = (x, out, mean, scale, inverse, device))]
pub(crate) fn scale_columns<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    out: &Floats<'py>,
    mean: Option<PyReadonlyArray1<'py, f64>>,
    scale: Option<PyReadonlyArray1<'py, f64>>,
    inverse: bool,
    device: Option<&Device>,
) -> PyResult<()> {
    let source = host(x, "X")?;
    let n_cols = source.n_cols();
    let column = |values: Option<PyReadonlyArray1<'py, f64>>, absent: f64, name: &str| -> PyResult<Vec<f64>> {
        let values = values.map_or_else(|| vec![absent; n_cols], |values| values.as_array().to_vec());
        if values.len() == n_cols {
            Ok(values)
        } else {
            Err(shape(name, n_cols, values.len()))
        }
    };
    let affine = Affine {
        offset: column(mean, 0.0, "mean")?,
        scale: column(scale, 1.0, "scale")?,
        inverse,
    };
    if x.shape() != out.shape() {
        return Err(shape("out", x.len(), out.len()));
    }
    if x.is(out) {
        // A matrix of no rows stands for the element type: the data are only reached through `out`.
        let element = source.rows(0..0);
        return run(
            py,
            device,
            standard_scaler::Scale {
                rows: Rows::Same(host_mut(out, "out")?),
                affine,
                element,
            },
        );
    }
    let rows = Rows::Apart(Input::finite(source, "X").with_nan().told(), host_mut(out, "out")?);
    run(
        py,
        device,
        standard_scaler::Scale {
            rows,
            affine,
            element: source,
        },
    )
}

fn shape(what: &str, expected: usize, found: usize) -> PyErr {
    PyValueError::new_err(format!("`{what}` has {found} elements, expected {expected}"))
}

/// Coefficients (t, d) and intercept (t,) of ridge regression, of the type of `x`.
#[pyfunction]
#[pyo3(signature = (x, y, sample_weight, alpha, fit_intercept, device))]
pub(crate) fn ridge_fit<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    y: &Floats<'py>,
    sample_weight: Option<&Floats<'py>>,
    alpha: Vec<f64>,
    fit_intercept: bool,
    device: Option<&Device>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let n_targets = alpha.len();
    let params = ridge::Params::new(alpha, fit_intercept).map_err(raised)?;
    let x = host(x, "X")?;
    let job = ridge::Fit {
        x,
        y: host(y, "y")?,
        weights: optional(sample_weight, "sample_weight")?,
        params,
    };
    let fitted = run(py, device, job)?;
    let coefficients = typed(py, &x, fitted.coefficients).call_method1("reshape", ((n_targets, x.n_cols()),))?;
    Ok((coefficients, typed(py, &x, fitted.intercept)))
}

/// Coefficients (t, d), intercept (t,) and singular values (d,) of least squares, of the type of `x`.
#[pyfunction]
#[pyo3(signature = (x, y, sample_weight, fit_intercept, device))]
pub(crate) fn least_squares_fit<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    y: &Floats<'py>,
    sample_weight: Option<&Floats<'py>>,
    fit_intercept: bool,
    device: Option<&Device>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (x, y) = (host(x, "X")?, host(y, "y")?);
    let n_targets = y.n_cols();
    let job = ridge::Fit {
        x,
        y,
        weights: optional(sample_weight, "sample_weight")?,
        params: ridge::Params::least_squares(n_targets, fit_intercept),
    };
    let fitted = run(py, device, job)?;
    let coefficients = typed(py, &x, fitted.coefficients).call_method1("reshape", ((n_targets, x.n_cols()),))?;
    Ok((
        coefficients,
        typed(py, &x, fitted.intercept),
        typed(py, &x, fitted.singular_values),
    ))
}

type OfTargets<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Doubles<'py>,
    Doubles<'py>,
    Vec<usize>,
);

/// Coefficients (t, d) and intercept (t,) of the elastic net, of the type of `x`; duality gaps, what was wanted of them, passes (t,).
#[pyfunction]
#[pyo3(signature = (x, y, sample_weight, l1, l2, fit_intercept, positive, tol, max_iter, start, seeds, device))]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "they are scikit-learn's parameters, and a list comes by value"
)]
pub(crate) fn elastic_net_fit<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    y: &Floats<'py>,
    sample_weight: Option<&Floats<'py>>,
    l1: f64,
    l2: f64,
    fit_intercept: bool,
    positive: bool,
    tol: f64,
    max_iter: usize,
    start: Option<&Bound<'py, PyArray2<f64>>>,
    seeds: Option<Vec<u32>>,
    device: Option<&Device>,
) -> PyResult<OfTargets<'py>> {
    let (x, y) = (host(x, "X")?, host(y, "y")?);
    let shape = (y.n_cols(), x.n_cols());
    let start = start.map(PyArrayMethods::readonly);
    let job = elastic_net::Fit {
        rows: Labelled {
            x,
            y,
            weights: optional(sample_weight, "sample_weight")?,
        },
        params: elastic_net::Params {
            l1,
            l2,
            fit_intercept,
            positive,
            tolerance: tol,
            max_passes: max_iter,
        },
        start: start.as_ref().map(|start| start.as_slice()).transpose()?,
        seeds: seeds.as_deref(),
    };
    let fitted = run(py, device, job)?;
    Ok((
        typed(py, &x, fitted.coefficients).call_method1("reshape", (shape,))?,
        typed(py, &x, fitted.intercept),
        fitted.gap.into_pyarray(py),
        fitted.wanted.into_pyarray(py),
        fitted.passes,
    ))
}

/// An array of the type that `like` is computed in.
fn typed<'py>(py: Python<'py>, like: &HostMatrix<'_>, values: Vec<f64>) -> Bound<'py, PyAny> {
    if like.is_single() {
        let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        values.into_pyarray(py).into_any()
    } else {
        values.into_pyarray(py).into_any()
    }
}

/// `out = x coefᵀ + intercept`.
#[pyfunction]
#[pyo3(signature = (x, coef, intercept, out, device))]
pub(crate) fn linear_predict<'py>(
    py: Python<'py>,
    x: &Floats<'py>,
    coef: &Floats<'py>,
    intercept: &Floats<'py>,
    out: &Floats<'py>,
    device: Option<&Device>,
) -> PyResult<()> {
    let (source, coefficients, intercepts) = (host(x, "X")?, host(coef, "coef")?, host(intercept, "intercept")?);
    if coefficients.n_cols() != source.n_cols() || coefficients.n_rows() != intercepts.n_rows() {
        return Err(shape("coef", intercepts.n_rows() * source.n_cols(), coef.len()));
    }
    let out = host_mut(out, "out")?;
    if (out.n_rows(), out.n_cols()) != (source.n_rows(), intercepts.n_rows()) {
        return Err(shape(
            "out",
            source.n_rows() * intercepts.n_rows(),
            out.n_rows() * out.n_cols(),
        ));
    }
    let values = |matrix: &HostMatrix<'_>| -> Vec<f64> {
        let (n_rows, n_cols) = (matrix.n_rows(), matrix.n_cols());
        (0..n_rows * n_cols)
            .map(|at| matrix.get(at / n_cols, at % n_cols))
            .collect()
    };
    let (coefficients, intercept) = (values(&coefficients), values(&intercepts));
    run(
        py,
        device,
        linear::Predict {
            x: source,
            coefficients: &coefficients,
            intercept: &intercept,
            out,
        },
    )
}
