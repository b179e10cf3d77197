"""Lasso and ElasticNet: the products of the columns on an engine, coordinate descent on them in float64."""

from __future__ import annotations

import warnings
from numbers import Number, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated, aligned
from metalml._compat import checked_array, checked_weights, fit_context, validated_pair
from metalml._documentation import on_the_gpu
from metalml._support import LeaveToScikitLearnError, Rule
from metalml.linear_model._response import predict_of, raise_like_scikit_learn
from metalml.linear_model._targets import as_columns

if TYPE_CHECKING:
    import numpy.typing as npt

_NOTE = """
    `fit` runs for dense data. The products of the centred columns are made on the GPU (float32) or on the native engine
    (float32, float64), and coordinate descent runs on them in float64 until the duality gap is below `tol` times the
    squares of the targets; `n_iter_` counts its passes. Under `auto`, data with more columns than rows stay in
    scikit-learn. `predict` runs wherever the data are.
    """
# The largest seed that scikit-learn's draws of coordinates begin with.
_MOST_SEED = 2**31 - 1


def _has_penalty(est: Any, _: object) -> bool:
    return isinstance(est.alpha, Real) and float(est.alpha) > 0


def _path_is_plain(est: Any, _: object) -> bool:
    return type(est).path is linear_model.ElasticNet.path


_RULES = (
    Rule(_has_penalty, "alpha={alpha!r} runs in scikit-learn: only values above 0 are accelerated"),
    Rule(lambda est, _: isinstance(est.precompute, bool), "products that the caller made run in scikit-learn"),
    Rule(_path_is_plain, "a subclass has its own `path`, which scikit-learn's `fit` calls"),
)


def _fit_of(owner: type) -> Any:
    """Return the accelerated `fit` of one of the two classes of scikit-learn's."""

    @accelerated(owner, *_RULES, is_fit=True)
    @fit_context
    def fit(
        self: Accelerated,
        run: Run,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | float | None = None,
        check_input: bool = True,
    ) -> Any:
        return _fit(self, run, X, y, sample_weight, check_input=check_input)

    return fit


class ElasticNet(Accelerated, linear_model.ElasticNet):
    __doc__ = on_the_gpu(linear_model.ElasticNet, _NOTE)
    fit = _fit_of(linear_model.ElasticNet)
    predict = predict_of(linear_model.ElasticNet)


class Lasso(Accelerated, linear_model.Lasso):
    __doc__ = on_the_gpu(linear_model.Lasso, _NOTE)
    fit = _fit_of(linear_model.Lasso)
    predict = predict_of(linear_model.Lasso)


def _fit(
    est: Any,
    run: Run,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    sample_weight: npt.ArrayLike | float | None,
    *,
    check_input: bool,
) -> Any:
    if not check_input:
        msg = "`check_input=False` runs in scikit-learn: the data are in its own form"
        raise LeaveToScikitLearnError(msg)
    x, targets = validated_pair(
        est,
        X,
        y,
        accept_sparse="csc",
        dtype=[np.float64, np.float32],
        accept_large_sparse=False,
        ensure_all_finite=False,
        multi_output=True,
        y_numeric=True,
    )
    run.leave_sparse(x)
    is_vector = targets.ndim == 1
    targets = as_columns(checked_array(targets, dtype=x.dtype.type, ensure_2d=False, ensure_all_finite=False), x.dtype)
    # A number weighs all rows alike.
    weights = None
    if sample_weight is not None and not isinstance(sample_weight, Number):
        weights = checked_weights(sample_weight, x, estimator=est)
    if weights is not None and not run.is_refused and not (np.all(weights >= 0) and np.any(weights > 0)):
        msg = "sample weights below 0, or all 0, run in scikit-learn"
        raise LeaveToScikitLearnError(msg, is_error=True)
    n_targets = targets.shape[1]
    device = run.place("elastic_net_fit", est, x, n_targets=n_targets, solves_on_host=True)
    if device is None and run.is_auto and len(x) < x.shape[1]:
        msg = f"{len(x)} rows and {x.shape[1]} columns: descent over the rows costs less than products of the columns"
        raise LeaveToScikitLearnError(msg, is_choice=True)
    # scikit-learn draws a seed for each target, wanted or not: the caller's generator must move as far.
    seeds = [int(check_random_state(est.random_state).randint(0, _MOST_SEED)) for _ in range(n_targets)]
    try:
        coef, intercept, gap, wanted, passes = _core.elastic_net_fit(
            aligned(x),
            aligned(targets),
            weights,
            float(est.alpha * est.l1_ratio),
            float(est.alpha * (1.0 - est.l1_ratio)),
            bool(est.fit_intercept),
            bool(est.positive),
            float(est.tol),
            int(est.max_iter),
            _start(est, n_targets, x.shape[1]),
            seeds if est.selection == "random" else None,
            device,
        )
    except _core.NonFiniteError as error:
        raise_like_scikit_learn(est, error, x)
    _warn_of_gaps(gap, wanted, passes)
    gap = gap.astype(x.dtype)
    is_single = n_targets == 1
    est.coef_ = coef[0] if is_single else coef
    est.dual_gap_ = gap[0] if is_single else gap
    est.n_iter_ = passes[0] if is_single else passes
    if not est.fit_intercept:
        est.intercept_ = 0.0
    else:
        est.intercept_ = intercept[0] if is_vector else intercept
    return est


def _start(est: Any, n_targets: int, n_columns: int) -> np.ndarray | None:
    if not (est.warm_start and hasattr(est, "coef_")):
        return None
    start = np.array(est.coef_, dtype=np.float64, ndmin=2)
    if start.shape != (n_targets, n_columns):
        msg = f"`coef_` of shape {np.shape(est.coef_)} is no start for {n_targets} targets of {n_columns} columns"
        raise LeaveToScikitLearnError(msg, is_error=True)
    return start


def _warn_of_gaps(gap: np.ndarray, wanted: np.ndarray, passes: list[int]) -> None:
    for left, most, count in zip(gap, wanted, passes, strict=True):
        if left > most:
            warnings.warn(
                f"Objective did not converge. After {count} iterations the duality gap is {left:.3e}, wanted is"
                f" {most:.3e}; more iterations, columns of like scale or a larger `alpha` help.",
                ConvergenceWarning,
                stacklevel=4,
            )
