"""Scalers by the range of each column: one pass for the least and greatest values, and an affine map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn import preprocessing

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated, aligned
from metalml._compat import checked_array, fit_context, validated, zeros_to_one
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
_NOTE = """
    `fit`, `partial_fit`, `transform` and `inverse_transform` run for dense data: on the GPU in float32, on the native
    engine in float32 and float64.
    """


def _state_is_columns(est: MinMaxScaler | MaxAbsScaler, _: object) -> bool:
    return isinstance(est.scale_, np.ndarray) and est.scale_.ndim == 1


def _range_is_ordered(est: MinMaxScaler, _: object) -> bool:
    return est.feature_range[0] < est.feature_range[1]


def _partial_fit_is_ours(est: object, _: object) -> bool:
    return type(est).partial_fit in (MinMaxScaler.partial_fit, MaxAbsScaler.partial_fit)  # type: ignore[attr-defined]


_FITTED = Rule(lambda est, _: hasattr(est, "scale_"), "the scaler is not fitted", is_error=True)
_COLUMNS = Rule(_state_is_columns, "`scale_` is not that of a fit with NumPy arrays")
_ORDERED = Rule(_range_is_ordered, "feature_range={feature_range!r} is no range", is_error=True)
_OWN_PARTIAL_FIT = Rule(_partial_fit_is_ours, "a subclass has its own `partial_fit`, which scikit-learn's `fit` calls")


class MinMaxScaler(Accelerated, preprocessing.MinMaxScaler):
    __doc__ = on_the_gpu(preprocessing.MinMaxScaler, _NOTE)

    @accelerated(preprocessing.MinMaxScaler, NOT_HALF, _ORDERED, _OWN_PARTIAL_FIT, is_fit=True, calls_others=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        self._reset()
        return self._learn(run, X)

    @accelerated(preprocessing.MinMaxScaler, NOT_HALF, _ORDERED, is_fit=True)
    @fit_context
    def partial_fit(self, run: Run, X: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        return self._learn(run, X)

    def _learn(self, run: Run, X: npt.ArrayLike) -> Self:
        is_first = not hasattr(self, "n_samples_seen_")
        x = validated(self, X, reset=is_first, dtype=DTYPES, ensure_all_finite=False)
        least, greatest = _ranges(self, run, x)
        low, high = (x.dtype.type(bound) for bound in self.feature_range)
        if not is_first:
            least, greatest = np.minimum(self.data_min_, least), np.maximum(self.data_max_, greatest)
        self.n_samples_seen_ = len(x) if is_first else self.n_samples_seen_ + len(x)
        reach = greatest - least
        self.scale_ = (high - low) / zeros_to_one(reach)
        self.min_ = low - least * self.scale_
        self.data_min_, self.data_max_, self.data_range_ = least, greatest, reach
        return self

    @accelerated(preprocessing.MinMaxScaler, _FITTED, NOT_HALF, _COLUMNS)
    def transform(self, run: Run, X: npt.ArrayLike) -> np.ndarray:
        x = validated(self, X, reset=False, dtype=DTYPES, force_writeable=False, ensure_all_finite=False)
        out = scaled_columns(self, run, x, self.min_, self.scale_, in_place=not self.copy, multiply=True)
        return np.clip(out, *self.feature_range, out=out) if self.clip else out

    @accelerated(preprocessing.MinMaxScaler, _FITTED, NOT_HALF, _COLUMNS)
    def inverse_transform(self, run: Run, X: npt.ArrayLike) -> np.ndarray:
        x = checked_array(X, dtype=DTYPES, ensure_all_finite=False)
        return scaled_columns(self, run, x, self.min_, self.scale_, in_place=not self.copy, multiply=False, name="")


class MaxAbsScaler(Accelerated, preprocessing.MaxAbsScaler):
    __doc__ = on_the_gpu(preprocessing.MaxAbsScaler, _NOTE)

    @accelerated(preprocessing.MaxAbsScaler, NOT_HALF, _OWN_PARTIAL_FIT, is_fit=True, calls_others=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        self._reset()
        return self._learn(run, X)

    @accelerated(preprocessing.MaxAbsScaler, NOT_HALF, is_fit=True)
    @fit_context
    def partial_fit(self, run: Run, X: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        return self._learn(run, X)

    def _learn(self, run: Run, X: npt.ArrayLike) -> Self:
        is_first = not hasattr(self, "n_samples_seen_")
        x = validated(self, X, reset=is_first, accept_sparse=_SPARSE_FORMATS, dtype=DTYPES, ensure_all_finite=False)
        run.leave_sparse(x)
        least, greatest = _ranges(self, run, x)
        largest = np.maximum(np.abs(least), np.abs(greatest))
        if not is_first:
            largest = np.maximum(self.max_abs_, largest)
        self.n_samples_seen_ = len(x) if is_first else self.n_samples_seen_ + len(x)
        self.max_abs_ = largest
        self.scale_ = zeros_to_one(largest)
        return self

    @accelerated(preprocessing.MaxAbsScaler, _FITTED, NOT_HALF, _COLUMNS)
    def transform(self, run: Run, X: npt.ArrayLike) -> np.ndarray:
        x = validated(
            self,
            X,
            reset=False,
            accept_sparse=_SPARSE_FORMATS,
            dtype=DTYPES,
            force_writeable=False,
            ensure_all_finite=False,
        )
        run.leave_sparse(x)
        out = scaled_columns(self, run, x, None, self.scale_, in_place=not self.copy, multiply=False)
        # A parameter of newer releases.
        return np.clip(out, -1, 1, out=out) if getattr(self, "clip", False) else out

    @accelerated(preprocessing.MaxAbsScaler, _FITTED, NOT_HALF, _COLUMNS)
    def inverse_transform(self, run: Run, X: npt.ArrayLike) -> np.ndarray:
        x = checked_array(X, accept_sparse=_SPARSE_FORMATS, dtype=DTYPES, ensure_all_finite=False)
        run.leave_sparse(x)
        return scaled_columns(self, run, x, None, self.scale_, in_place=not self.copy, multiply=True, name="")


def _ranges(scaler: MinMaxScaler | MaxAbsScaler, run: Run, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    device = run.place("column_ranges", scaler, x, allow_nan=True)
    leave_half_precision(x)
    try:
        least, greatest, count = _core.column_ranges(aligned(x), device)
    except _core.NonFiniteError as error:
        raise_like_scikit_learn(scaler, error, x)
    if not count.all():
        msg = "a column holds nothing but NaN: scikit-learn warns of it"
        raise LeaveToScikitLearnError(msg, is_error=True)
    return least.astype(x.dtype), greatest.astype(x.dtype)
