"""The only place of tolerances: by the dtype of the result and by the length of the sums behind it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# float64 on the native engine against an exact reference (times the condition, where a system is solved).
NATIVE_FLOAT64 = 1e-12

# Room for the constant in front of a bound that is otherwise tight for random signs.
_CONSTANT = 8.0


def ulp(dtype: npt.DTypeLike) -> float:
    """Return the relative distance between neighbouring numbers."""
    return float(np.finfo(dtype).eps)


def allowed(dtype: npt.DTypeLike, n_terms: int = 1) -> float:
    """Return the relative error that sums of `n_terms` rounded terms may have: their errors add like a random walk."""
    return _CONSTANT * ulp(dtype) * float(np.sqrt(n_terms))


def relative_error(found: npt.ArrayLike, exact: npt.ArrayLike) -> float:
    """Return |found - exact| / |exact| in the 2-norm; NaN must stand in the same places, and is left out there."""
    found, exact = np.asarray(found, dtype=np.float64), np.asarray(exact, dtype=np.float64)
    assert found.shape == exact.shape, (found.shape, exact.shape)
    missing = np.isnan(exact)
    np.testing.assert_array_equal(np.isnan(found), missing)
    found, exact = found[~missing], exact[~missing]
    largest = np.max(np.abs(exact), initial=0.0)
    if largest == 0:
        return float(np.linalg.norm(found))
    # Divided first: the squares of huge or tiny values would leave the range of float64.
    return float(np.linalg.norm(found / largest - exact / largest) / np.linalg.norm(exact / largest))


def assert_close(found: npt.ArrayLike, expected: npt.ArrayLike, dtype: npt.DTypeLike, n_terms: int = 1) -> None:
    """Assert agreement within the tolerance of `dtype` for sums of `n_terms`."""
    error, limit = relative_error(found, expected), allowed(dtype, n_terms)
    assert error <= limit, f"relative error {error:.2e} > {limit:.2e} for {np.dtype(dtype)}"


def assert_as_right_as(
    theirs: npt.ArrayLike, ours: npt.ArrayLike, exact: npt.ArrayLike, what: str, ulps: int = 1
) -> None:
    """Assert that our float32 answer is off by no more than theirs, or by no more than some float32 ulps."""
    our_error, their_error = relative_error(ours, exact), relative_error(theirs, exact)
    limit = max(their_error, ulps * ulp(np.float32))
    assert our_error <= limit, f"{what}: error {our_error:.2e}, scikit-learn's float32 {their_error:.2e}"
