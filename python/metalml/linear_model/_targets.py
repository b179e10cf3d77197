"""Targets as the engines take them."""

from __future__ import annotations

import numpy as np

from metalml._support import LeaveToScikitLearnError


def as_columns(y: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return targets, validated, as a matrix of one column each, in the type of the rows."""
    if not isinstance(y, np.ndarray) or y.ndim > 2:
        msg = "targets of this kind run in scikit-learn"
        raise LeaveToScikitLearnError(msg, is_error=True)
    with np.errstate(over="ignore"):
        targets = y.astype(dtype, copy=False)
    return targets.reshape(-1, 1) if y.ndim == 1 else targets
