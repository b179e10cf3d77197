"""All that depends on the installed scikit-learn: the only place that knows versions or private modules.

Differences between versions are asked of scikit-learn by running it on a tiny example, once, where that is possible:
an answer that was seen cannot go stale.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import sklearn
from scipy.sparse import issparse
from sklearn._config import get_config as _get_config
from sklearn.base import _fit_context
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils._set_output import _SetOutputMixin
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import (
    _assert_all_finite,
    _check_sample_weight,
    check_array,
    validate_data,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import numpy.typing as npt

__all__ = [
    "InconsistentVersionWarning",
    "array_api_dispatch",
    "checked_array",
    "checked_weights",
    "constant_columns_to_one",
    "fit_context",
    "fit_task",
    "gaussian_state_dtype",
    "is_first_partial_fit",
    "issparse",
    "raise_if_not_finite",
    "require_supported",
    "single_column_target_is_flat",
    "sklearn_version",
    "type_of_sample_count",
    "validated",
    "validated_pair",
    "validated_target",
    "without_output_wrapping",
    "zeros_to_one",
]

_Method = TypeVar("_Method", bound="Callable[..., object]")

# scikit-learn ships no types; what a checker infers from its defaults is too narrow.
_validate: Callable[..., Any] = validate_data
_check: Callable[..., Any] = check_array

OLDEST = (1, 6)
NEWEST_EXCLUDED = (1, 11)

sklearn_version = sklearn.__version__


def require_supported() -> None:
    """Raise ImportError when the installed scikit-learn is outside the tested range."""
    found = tuple(int(part) for part in sklearn_version.split(".")[:2])
    if not OLDEST <= found < NEWEST_EXCLUDED:
        oldest, newest = (".".join(map(str, bound)) for bound in (OLDEST, NEWEST_EXCLUDED))
        need = f">={oldest},<{newest}"
        msg = f'scikit-learn {sklearn_version} found, {need} needed\nhint: pip install "scikit-learn{need}"'
        raise ImportError(msg)


def validated(estimator: object, X: npt.ArrayLike, **checks: object) -> np.ndarray:
    """Run scikit-learn's validation of `X`, and of the names and the number of features.

    What comes back is sparse where `accept_sparse` allows it, which only a call about to be refused may.
    """
    return _validate(estimator, X, **checks)


def validated_target(estimator: object, y: npt.ArrayLike) -> np.ndarray:
    """Run scikit-learn's validation of `y` alone."""
    return _validate(estimator, y=y)


def validated_pair(
    estimator: object, X: npt.ArrayLike, y: npt.ArrayLike, **checks: object
) -> tuple[np.ndarray, np.ndarray]:
    """Run scikit-learn's validation of `X` and `y` together."""
    return _validate(estimator, X, y, **checks)


def checked_array(X: npt.ArrayLike, **checks: object) -> np.ndarray:
    """Run scikit-learn's validation of an array alone."""
    return _check(X, **checks)


def checked_weights(
    sample_weight: npt.ArrayLike | None, X: np.ndarray, *, estimator: object, allow_nan: bool = False
) -> np.ndarray | None:
    """Run scikit-learn's validation of sample weights, which then have the dtype of `X`.

    The finite check of `X` was put off, but scikit-learn speaks of what is not finite before it looks at weights.
    """
    if sample_weight is None:
        return None
    try:
        return _check_sample_weight(sample_weight, X, dtype=X.dtype)
    except (TypeError, ValueError):
        raise_if_not_finite(X, estimator=estimator, name="X", allow_nan=allow_nan)
        raise


def fit_context(method: _Method) -> _Method:
    """Validate parameters before a fit, and run it as scikit-learn runs its own."""
    return cast("_Method", _fit_context(prefer_skip_nested_validation=True)(method))


def array_api_dispatch() -> bool:
    """Whether scikit-learn is asked to compute in the namespace of its input."""
    return bool(_get_config()["array_api_dispatch"])


def without_output_wrapping(owner: type, name: str) -> Callable[..., object]:
    """Return the method as scikit-learn wrote it, before `set_output` wrapped it: our class wraps it again."""
    method = getattr(owner, name)
    if name in {"transform", "fit_transform"} and issubclass(owner, _SetOutputMixin):
        return getattr(method, "__wrapped__", method)
    return method


def raise_if_not_finite(X: np.ndarray, *, estimator: object, name: str, allow_nan: bool = False) -> None:
    """Run scikit-learn's own check, for its own message."""
    values = X.data if issparse(X) else X
    _assert_all_finite(values, input_name=name, estimator_name=type(estimator).__name__, allow_nan=allow_nan)


def constant_columns_to_one(variance: np.ndarray, mean: np.ndarray, n_samples: np.ndarray | float) -> np.ndarray:
    """Return the standard deviations, with 1 for the columns that scikit-learn takes for constant."""
    from sklearn.preprocessing._data import _handle_zeros_in_scale, _is_constant_feature

    constant = _is_constant_feature(variance, mean, n_samples)
    return cast("np.ndarray", _handle_zeros_in_scale(np.sqrt(variance), copy=False, constant_mask=constant))


def is_first_partial_fit(estimator: object, classes: npt.ArrayLike | None) -> bool:
    """Run scikit-learn's check of `classes`, set `classes_` at the first call, and tell whether this is that."""
    return bool(_check_partial_fit_first_call(estimator, classes))


@lru_cache(maxsize=8)
def gaussian_state_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype of GaussianNB's means for rows of this dtype (releases differ)."""
    from sklearn.naive_bayes import GaussianNB

    rows = np.array([[0], [1], [0], [1]], dtype=dtype)
    return GaussianNB(var_smoothing=1e-3).fit(rows, [0, 0, 1, 1]).theta_.dtype


def zeros_to_one(scale: np.ndarray) -> np.ndarray:
    """Return a copy of the scales, with 1 for those that scikit-learn takes for 0."""
    from sklearn.preprocessing._data import _handle_zeros_in_scale

    return cast("np.ndarray", _handle_zeros_in_scale(scale, copy=True))


@contextmanager
def fit_task(estimator: object, X: object, y: object, metadata: dict[str, object]) -> Generator[None, None, None]:
    """Tell scikit-learn's callbacks (1.9) about a fit that is one task."""
    begin = getattr(estimator, "_init_callback_context", None)
    if begin is None:
        yield
        return
    context = begin()
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y, metadata=metadata)
    yield
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y, metadata=metadata, reconstruction_attributes={})


@lru_cache(maxsize=1)
def single_column_target_is_flat() -> bool:
    """Whether Ridge gives a one-dimensional `coef_` for a `y` of one column (releases differ)."""
    from sklearn.linear_model import Ridge

    return Ridge().fit([[0.0], [1.0]], [[0.0], [1.0]]).coef_.ndim == 1


@lru_cache(maxsize=64)
def type_of_sample_count(
    *, computes: bool, weighted: bool, ragged: bool, dtype: np.dtype, before: tuple[np.dtype, bool] | None
) -> np.dtype:
    """Return the dtype of StandardScaler's `n_samples_seen_`, which differs by release and by path.

    `before` says the dtype of the count so far, and whether there is one for each column; `None` at the first rows.
    """
    from sklearn.preprocessing import StandardScaler

    rows = np.array([[0.0, np.nan if ragged else 0.0], [1.0, 1.0]], dtype=dtype)
    scaler = StandardScaler(with_mean=computes, with_std=computes)
    if before is not None:
        counts = np.array([2, 1], dtype=before[0])
        scaler.partial_fit(np.zeros_like(rows)).n_samples_seen_ = counts if before[1] else counts[0]
    seen = scaler.partial_fit(rows, sample_weight=np.ones(2, dtype=dtype) if weighted else None).n_samples_seen_
    return np.asarray(seen).dtype
