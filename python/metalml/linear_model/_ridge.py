"""Ridge regression: the Gram matrix on an engine, one small system solved in float64."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import linear_model

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated, aligned, following
from metalml._compat import (
    checked_weights,
    fit_context,
    issparse,
    single_column_target_is_flat,
    validated_pair,
)
from metalml._documentation import on_the_gpu
from metalml._support import LeaveToScikitLearnError, Rule
from metalml.linear_model._response import SPARSE_FORMATS, decision_function_of, predict_of, raise_like_scikit_learn
from metalml.linear_model._targets import as_columns

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self


def _is_positive(alpha: object) -> bool:
    if type(alpha) is float or type(alpha) is int:
        return 0 < alpha < float("inf")
    values = np.asarray(alpha, dtype=np.float64)
    return values.size > 0 and bool(np.all((values > 0) & np.isfinite(values)))


def _sparse_solver_fits(est: Any, X: object) -> bool:
    if type(X) is np.ndarray or not issparse(X) or not est.fit_intercept:
        return True
    return est.solver in ("auto", "lbfgs", "lsqr", "sag", "sparse_cg")


_RULES = (
    Rule(lambda est, _: est.solver != "lbfgs" or est.positive, 'solver="lbfgs" needs `positive=True`', is_error=True),
    Rule(
        lambda est, _: not est.positive or est.solver in ("auto", "lbfgs"),
        "solver={solver!r} cannot keep the coefficients positive",
        is_error=True,
    ),
    Rule(_sparse_solver_fits, "solver={solver!r} fits no intercept on sparse input", is_error=True),
    Rule(
        lambda est, _: est.solver in ("auto", "cholesky"),
        "solver={solver!r} runs in scikit-learn: `auto` and `cholesky` are accelerated",
    ),
    Rule(lambda est, _: not est.positive, "`positive=True` runs in scikit-learn"),
    Rule(
        lambda est, _: isinstance(est.alpha, (Real, np.ndarray)),
        "alpha={alpha!r} is neither a number nor an array",
        is_error=True,
    ),
    Rule(
        lambda est, _: _is_positive(est.alpha),
        "alpha={alpha!r} runs in scikit-learn: only values above 0 are accelerated",
    ),
)


class Ridge(Accelerated, linear_model.Ridge):
    __doc__ = on_the_gpu(
        linear_model.Ridge,
        """
        `fit` runs for dense data with ``solver="auto"`` or ``"cholesky"`` and ``alpha`` above 0. The Gram matrix of the
        centred data is made on the GPU (float32) or on the native engine (float32, float64); the system is solved in
        float64. `predict` runs wherever the data are, whichever solver fitted the model.
        """,
    )

    @accelerated(linear_model.Ridge, *_RULES, is_fit=True)
    @fit_context
    def fit(
        self, run: Run, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | float | None = None
    ) -> Self:
        x, targets = validated_pair(
            self,
            X,
            y,
            accept_sparse=SPARSE_FORMATS,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            multi_output=True,
            y_numeric=True,
        )
        return _fit(self, run, x, targets, sample_weight)

    predict = predict_of(linear_model.Ridge)


class RidgeClassifier(Accelerated, linear_model.RidgeClassifier):
    __doc__ = on_the_gpu(
        linear_model.RidgeClassifier,
        """
        `fit` runs as that of `Ridge` does, and under the same conditions; `decision_function`, and `predict` by it, run
        for dense data: on the GPU in float32, on the native engine in float32 and float64.
        """,
    )

    @accelerated(linear_model.RidgeClassifier, *_RULES, is_fit=True)
    @fit_context
    def fit(
        self, run: Run, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | float | None = None
    ) -> Self:
        is_weighted = sample_weight is not None or bool(self.class_weight)
        prepared: Any = self._prepare_data(X, y, sample_weight, self.solver)
        x, _, weights, targets = prepared
        if x.dtype == np.float16:
            msg = "float16 data run in scikit-learn"
            raise LeaveToScikitLearnError(msg)
        if x.dtype.kind != "f":
            x = x.astype(np.float64)
        return _fit(self, run, x, targets, weights if is_weighted else None)

    decision_function = decision_function_of(linear_model.RidgeClassifier)
    predict = following(linear_model.RidgeClassifier, "predict", decision_function)


def _fit(est: Any, run: Run, x: np.ndarray, targets: np.ndarray, sample_weight: npt.ArrayLike | float | None) -> Any:
    """Set what scikit-learn's fit sets, for validated rows and targets."""
    run.leave_sparse(x, is_error=not _sparse_solver_fits(est, x))
    weights = checked_weights(sample_weight, x, estimator=est)
    is_vector = targets.ndim == 1
    targets = as_columns(targets, x.dtype)
    n_targets = targets.shape[1]
    alpha = _penalties(est.alpha, n_targets)
    # Other solvers take negative weights; those that we run do not.
    if weights is not None and not run.is_refused and not np.all(weights >= 0):
        msg = "negative sample weights run in scikit-learn"
        raise LeaveToScikitLearnError(msg, is_error=True)
    device = run.place("ridge_fit", est, x, n_targets=n_targets, solves_on_host=True)
    try:
        coef, intercept = _core.ridge_fit(aligned(x), aligned(targets), weights, alpha, bool(est.fit_intercept), device)
    except _core.NonFiniteError as error:
        raise_like_scikit_learn(est, error, x)
    flat = is_vector or (n_targets == 1 and single_column_target_is_flat())
    est.coef_ = coef[0] if flat else coef
    if not est.fit_intercept:
        est.intercept_ = 0.0
    else:
        est.intercept_ = intercept[0] if is_vector else intercept
    est.n_iter_ = None
    est.solver_ = "cholesky"
    return est


def _penalties(alpha: npt.ArrayLike, n_targets: int) -> np.ndarray:
    penalties = np.asarray(alpha, dtype=np.float64).ravel()
    if penalties.size not in (1, n_targets):
        msg = f"{penalties.size} penalties for {n_targets} targets"
        raise LeaveToScikitLearnError(msg, is_error=True)
    return np.ascontiguousarray(np.broadcast_to(penalties, (n_targets,)))
