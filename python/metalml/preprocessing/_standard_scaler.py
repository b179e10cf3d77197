"""Standardization of columns: statistics in one pass, and an affine map."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn import preprocessing

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated, aligned
from metalml._compat import (
    checked_array,
    checked_weights,
    constant_columns_to_one,
    fit_context,
    fit_task,
    issparse,
    type_of_sample_count,
    validated,
)
from metalml._documentation import on_the_gpu
from metalml._support import LeaveToScikitLearnError, Rule
from metalml.preprocessing._columns import (
    DTYPES,
    NOT_HALF,
    leave_half_precision,
    raise_like_scikit_learn,
    scaled_columns,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self

_SPARSE_FORMATS = ("csr", "csc")


class _Moments(NamedTuple):
    """Weight (or count), mean and variance of each column."""

    weight: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    def merged_with(self, other: _Moments) -> _Moments:
        """Join the moments of two disjoint sets of rows (Chan, Golub and LeVeque 1983, section 3)."""
        weight = self.weight + other.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            share = other.weight / weight
            step = other.mean - self.mean
            mean = self.mean + step * share
            # Weighted averages of the variances: the sums of squares would overflow earlier.
            variance = self.variance + (other.variance - self.variance) * share + step**2 * share * (1 - share)
        # A column without a value on one side has the moments of the other side.
        mean = np.where(self.weight == 0, other.mean, np.where(other.weight == 0, self.mean, mean))
        variance = np.where(self.weight == 0, other.variance, np.where(other.weight == 0, self.variance, variance))
        return _Moments(weight, mean, variance)


def _can_center(est: StandardScaler, X: object) -> bool:
    return type(X) is np.ndarray or not est.with_mean or not issparse(X)


def _state_is_columns(est: StandardScaler, _: object) -> bool:
    return all(
        isinstance(values, np.ndarray) and values.ndim == 1
        for wanted, values in ((est.with_mean, est.mean_), (est.with_std, est.scale_))
        if wanted
    )


def _can_continue(est: StandardScaler, _: object) -> bool:
    if not hasattr(est, "n_samples_seen_"):
        return True
    wanted = [est.mean_] if est.with_mean or est.with_std else []
    wanted += [est.var_] if est.with_std else []
    return all(isinstance(values, np.ndarray) for values in wanted)


def _partial_fit_is_ours(est: StandardScaler, _: object) -> bool:
    return type(est).partial_fit is StandardScaler.partial_fit


_CENTERS = Rule(_can_center, "sparse data cannot be centred", is_error=True)
_FITTED = Rule(lambda est, _: hasattr(est, "scale_"), "the scaler is not fitted", is_error=True)
_COLUMNS = Rule(_state_is_columns, "`mean_` and `scale_` are not those of a fit with NumPy arrays")


class StandardScaler(Accelerated, preprocessing.StandardScaler):
    __doc__ = on_the_gpu(
        preprocessing.StandardScaler,
        """
        `fit`, `partial_fit`, `transform` and `inverse_transform` run for dense data: on the GPU in float32, on the
        native engine in float32 and float64. The statistics are accumulated with more than float32's precision and are
        float64, as in scikit-learn.
        """,
    )

    @accelerated(
        preprocessing.StandardScaler,
        _CENTERS,
        NOT_HALF,
        Rule(_partial_fit_is_ours, "a subclass has its own `partial_fit`, which scikit-learn's `fit` calls"),
        is_fit=True,
        calls_others=True,
    )
    @fit_context
    def fit(
        self, run: Run, X: npt.ArrayLike, y: object = None, sample_weight: npt.ArrayLike | float | None = None
    ) -> Self:
        self._reset()
        _learn(self, run, X, y, sample_weight)
        return self

    @accelerated(
        preprocessing.StandardScaler,
        _CENTERS,
        NOT_HALF,
        Rule(_can_continue, "the statistics so far were made with other settings of `with_mean` and `with_std`"),
        is_fit=True,
    )
    @fit_context
    def partial_fit(
        self, run: Run, X: npt.ArrayLike, y: object = None, sample_weight: npt.ArrayLike | float | None = None
    ) -> Self:
        _learn(self, run, X, y, sample_weight)
        return self

    @accelerated(preprocessing.StandardScaler, _FITTED, _CENTERS, NOT_HALF, _COLUMNS)
    def transform(self, run: Run, X: npt.ArrayLike, copy: bool | None = None) -> np.ndarray:
        x = validated(
            self, X, reset=False, accept_sparse="csr", dtype=DTYPES, force_writeable=False, ensure_all_finite=False
        )
        return _apply(self, run, x, in_place=not (self.copy if copy is None else copy), inverse=False)

    @accelerated(preprocessing.StandardScaler, _FITTED, _CENTERS, NOT_HALF, _COLUMNS)
    def inverse_transform(self, run: Run, X: npt.ArrayLike, copy: bool | None = None) -> np.ndarray:
        x = checked_array(X, accept_sparse="csr", dtype=DTYPES, ensure_all_finite=False)
        return _apply(self, run, x, in_place=not (self.copy if copy is None else copy), inverse=True)


def _learn(
    scaler: StandardScaler, run: Run, X: npt.ArrayLike, y: object, sample_weight: npt.ArrayLike | float | None
) -> None:
    is_first = not hasattr(scaler, "n_samples_seen_")
    x = validated(scaler, X, accept_sparse=_SPARSE_FORMATS, dtype=DTYPES, ensure_all_finite=False, reset=is_first)
    run.leave_sparse(x, is_error=scaler.with_mean)
    with fit_task(scaler, x, y, {"sample_weight": sample_weight}):
        weights = checked_weights(sample_weight, x, estimator=scaler, allow_nan=True)
        device = run.place("column_statistics", scaler, x, allow_nan=True)
        leave_half_precision(x)
        if weights is not None and not (np.all(weights >= 0) and np.any(weights > 0)):
            msg = "sample weights below 0, or all 0, run in scikit-learn"
            raise LeaveToScikitLearnError(msg)
        computes = bool(scaler.with_mean or scaler.with_std)
        try:
            # Without centring and scaling scikit-learn counts rows and does not weigh them.
            moments = _Moments(*_core.column_statistics(aligned(x), weights if computes else None, device))
        except _core.NonFiniteError as error:
            raise_like_scikit_learn(scaler, error, x)
        if not is_first:
            moments = _so_far(scaler, x.shape[1]).merged_with(moments)
        _set_state(scaler, moments, computes=computes, weighted=weights is not None, dtype=x.dtype)


def _so_far(scaler: StandardScaler, n_columns: int) -> _Moments:
    kept = (scaler.n_samples_seen_, scaler.mean_, scaler.var_)
    return _Moments(*(np.broadcast_to(0.0 if values is None else np.asarray(values), (n_columns,)) for values in kept))


def _set_state(scaler: StandardScaler, moments: _Moments, *, computes: bool, weighted: bool, dtype: np.dtype) -> None:
    seen, mean, variance = moments
    # Once there, the variance is kept up to date: `with_std` may be turned off between two partial fits, and on again.
    has_variance = scaler.with_std or (computes and getattr(scaler, "var_", None) is not None)
    is_ragged = bool(seen.max() != seen.min())
    before = None
    if hasattr(scaler, "n_samples_seen_"):
        counted = np.asarray(scaler.n_samples_seen_)
        before = (counted.dtype, counted.size > 1)
    seen = seen.astype(
        type_of_sample_count(computes=computes, weighted=weighted, ragged=is_ragged, dtype=dtype, before=before)
    )
    scaler.n_samples_seen_ = seen if is_ragged else seen[0]
    scaler.mean_ = mean if computes else None
    scaler.var_ = variance if has_variance else None
    scaler.scale_ = constant_columns_to_one(variance, mean, scaler.n_samples_seen_) if scaler.with_std else None


def _apply(scaler: StandardScaler, run: Run, x: np.ndarray, *, in_place: bool, inverse: bool) -> np.ndarray:
    run.leave_sparse(x, is_error=scaler.with_mean)
    mean = scaler.mean_ if scaler.with_mean else None
    scale = scaler.scale_ if scaler.with_std else None
    # scikit-learn gives the data of an inverse transform no name.
    return scaled_columns(scaler, run, x, mean, scale, in_place=in_place, multiply=inverse, name="" if inverse else "X")
