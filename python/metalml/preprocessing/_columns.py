"""Columns that are shifted and scaled on an engine: what several scalers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from metalml import _core
from metalml._accelerated import aligned
from metalml._compat import raise_if_not_finite
from metalml._support import LeaveToScikitLearnError, Rule

if TYPE_CHECKING:
    from metalml._accelerated import Run

DTYPES = [np.float64, np.float32, np.float16]


def _is_not_half(_: object, X: object) -> bool:
    return getattr(X, "dtype", None) != np.float16


NOT_HALF = Rule(_is_not_half, "float16 data run in scikit-learn, which keeps their type")


def leave_half_precision(x: np.ndarray) -> None:
    """Leave float16 data to scikit-learn: a data frame shows its type only after conversion."""
    if x.dtype == np.float16:
        raise LeaveToScikitLearnError(NOT_HALF.reason)


def scaled_columns(
    estimator: object,
    run: Run,
    x: np.ndarray,
    place: object,
    scale: object,
    *,
    in_place: bool,
    multiply: bool,
    name: str = "X",
) -> np.ndarray:
    """Return `(x - place) / scale`, or `x * scale + place`, each for the whole column; NaN stays.

    Parameters
    ----------
    estimator : estimator
        For messages.
    run : Run
        The call.
    x : ndarray of shape (n_rows, n_columns)
        Validated, but for its finiteness.
    place, scale : array-like of shape (n_columns,) or None
        `None` leaves this step out.
    in_place : bool
        Write to `x` itself where that may be written to.
    multiply : bool
        The second formula.
    name : str, default="X"
        What scikit-learn calls the data in its message.
    """
    device = run.place("scale_columns", estimator, x, name=name, allow_nan=True)
    leave_half_precision(x)
    place_values, scale_values = _column_values(place, x.shape[1]), _column_values(scale, x.shape[1])
    x, out = where_to(x, in_place=in_place)
    try:
        _core.scale_columns(x, out, place_values, scale_values, multiply, device)
    except _core.NonFiniteError as error:
        raise_like_scikit_learn(estimator, error, x, name)
    return out


def where_to(x: np.ndarray, *, in_place: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the data as an engine reads them, and the array to write to: the same if `in_place` and that can be."""
    if not (in_place and x.flags.writeable):
        x = aligned(x)
        return x, np.empty(x.shape, dtype=x.dtype)
    if not x.flags.carray:
        msg = "`copy=False` on an array that is not C-contiguous runs in scikit-learn"
        raise LeaveToScikitLearnError(msg)
    return x, x


def _column_values(kept: object, n_columns: int) -> np.ndarray | None:
    if kept is None:
        return None
    values = np.asarray(kept, dtype=np.float64)
    if values.shape != (n_columns,):
        msg = f"{n_columns} columns, and statistics of shape {values.shape}"
        raise LeaveToScikitLearnError(msg, is_error=True)
    return np.ascontiguousarray(values)


def raise_like_scikit_learn(
    estimator: object, error: _core.NonFiniteError, x: np.ndarray, name: str = "X", *, allow_nan: bool = True
) -> NoReturn:
    """Raise scikit-learn's own error about values that an engine found not to be finite."""
    raise_if_not_finite(x, estimator=estimator, name=name, allow_nan=allow_nan)
    msg = "the data hold infinite values and scikit-learn was told to assume that they are finite"
    raise LeaveToScikitLearnError(msg) from error
