"""What every model with coefficients gives for rows: `X coefᵀ + intercept`, on an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated, aligned
from metalml._compat import raise_if_not_finite, validated
from metalml._support import LeaveToScikitLearnError, Rule

if TYPE_CHECKING:
    import numpy.typing as npt

SPARSE_FORMATS = ("csr", "csc", "coo")

PREDICTS = """
    `fit` runs in scikit-learn. `predict` runs for dense data, whichever way the model was fitted: on the GPU in
    float32, on the native engine in float32 and float64.
    """
CLASSIFIES = """
    `fit` runs in scikit-learn. `decision_function` runs for dense data, and so do the methods that are made of it: on
    the GPU in float32, on the native engine in float32 and float64.
    """


def _state_is_linear(est: Any, _: object) -> bool:
    coef, intercept = est.coef_, est.intercept_
    if not isinstance(coef, np.ndarray) or coef.ndim not in (1, 2) or coef.dtype.kind != "f" or not coef.size:
        return False
    n_targets = 1 if coef.ndim == 1 else coef.shape[0]
    return np.shape(intercept) in ((), (n_targets,))


HAS_COEFFICIENTS = (
    Rule(lambda est, _: hasattr(est, "coef_") and hasattr(est, "intercept_"), "the model is not fitted", is_error=True),
    Rule(_state_is_linear, "`coef_` and `intercept_` are not those of a fit with NumPy arrays"),
)


def linear_response(estimator: Any, run: Run, X: npt.ArrayLike) -> np.ndarray:
    """Return `X coefᵀ + intercept`: one value a row for a one-dimensional `coef_`, else a column for each of its rows.

    Each sum is rounded once, so that a row's response does not depend on the rows beside it. Cost: one pass over `X`.
    """
    x = validated(estimator, X, accept_sparse=SPARSE_FORMATS, reset=False, ensure_all_finite=False)
    run.leave_sparse(x)
    kept, constant = estimator.coef_, estimator.intercept_
    coef = kept if kept.ndim > 1 else kept[np.newaxis]
    try:
        dtype = np.result_type(x.dtype, kept.dtype, constant)
    except TypeError as error:
        msg = f"no product of {x.dtype} and {kept.dtype}"
        raise LeaveToScikitLearnError(msg, is_error=True) from error
    device = run.place("linear_predict", estimator, x, dtype=dtype, n_targets=len(coef))
    if dtype not in (np.float32, np.float64) or x.shape[1] != coef.shape[1]:
        msg = f"a result of type {dtype}, from {x.shape[1]} columns and a `coef_` of shape {kept.shape}"
        raise LeaveToScikitLearnError(msg)
    operand = aligned(x.astype(dtype, copy=False))
    coef = np.ascontiguousarray(coef, dtype=dtype)
    intercept = np.full(len(coef), constant, dtype=dtype)
    response = np.empty(len(x) if kept.ndim == 1 else (len(x), len(coef)), dtype=dtype)
    try:
        _core.linear_predict(operand, coef, intercept, response.reshape(len(x), len(coef)), device)
    except _core.NonFiniteError as error:
        raise_like_scikit_learn(estimator, error, x)
    return response


def raise_like_scikit_learn(estimator: object, error: _core.NonFiniteError, x: np.ndarray) -> NoReturn:
    """Raise scikit-learn's own error about values that an engine found not to be finite."""
    name = str(error.args[0])
    if name == "X":
        raise_if_not_finite(x, estimator=estimator, name=name)
    # Values that only our type makes infinite, or scikit-learn told to assume finite data: its arithmetic decides.
    msg = f"`{name}` holds values that are not finite"
    raise LeaveToScikitLearnError(msg) from error


def predict_of(owner: type) -> Any:
    """Return the accelerated `predict` of a regressor of scikit-learn's."""

    @accelerated(owner, *HAS_COEFFICIENTS)
    def predict(self: Accelerated, run: Run, X: npt.ArrayLike) -> np.ndarray:
        return linear_response(self, run, X)

    return predict


def predict_with_deviation_of(owner: type) -> Any:
    """Return the same for a regressor that may be asked for standard deviations too."""

    @accelerated(owner, *HAS_COEFFICIENTS)
    def predict(self: Accelerated, run: Run, X: npt.ArrayLike, return_std: bool = False) -> np.ndarray:
        if return_std:
            msg = "`return_std=True` runs in scikit-learn"
            raise LeaveToScikitLearnError(msg)
        return linear_response(self, run, X)

    return predict


def decision_function_of(owner: type) -> Any:
    """Return the accelerated `decision_function` of a linear classifier of scikit-learn's."""

    @accelerated(owner, *HAS_COEFFICIENTS)
    def decision_function(self: Accelerated, run: Run, X: npt.ArrayLike) -> np.ndarray:
        scores = linear_response(self, run, X)
        return scores.ravel() if scores.ndim > 1 and scores.shape[1] == 1 else scores

    return decision_function
