"""Covariances: the Gram matrix of the centred rows on an engine, shrunk on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn import covariance

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated, aligned
from metalml._compat import fit_context, raise_if_not_finite, validated
from metalml._documentation import on_the_gpu
from metalml._support import LeaveToScikitLearnError

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self

_NOTE = """
    `fit` runs for dense data: on the GPU in float32, on the native engine in float32 and float64. The precision matrix
    is made by scikit-learn.
    """
# Of a covariance whose errors are those of float32: beyond this its inverse has fewer than three digits.
_MOST_CONDITION = 1e4


class EmpiricalCovariance(Accelerated, covariance.EmpiricalCovariance):
    __doc__ = on_the_gpu(covariance.EmpiricalCovariance, _NOTE)

    @accelerated(covariance.EmpiricalCovariance, is_fit=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        found = _estimate(self, run, X, promotes_mean=True)
        _keep(self, found, found.covariance)
        return self


class ShrunkCovariance(Accelerated, covariance.ShrunkCovariance):
    __doc__ = on_the_gpu(covariance.ShrunkCovariance, _NOTE)

    @accelerated(covariance.ShrunkCovariance, is_fit=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        found = _estimate(self, run, X, promotes_mean=True)
        _keep(self, found, _towards_mean_variance(found.covariance, self.shrinkage))
        return self


class LedoitWolf(Accelerated, covariance.LedoitWolf):
    __doc__ = on_the_gpu(
        covariance.LedoitWolf, f"{_NOTE.rstrip()} `block_size` has no effect there: no matrix is made that it splits.\n"
    )

    @accelerated(covariance.LedoitWolf, is_fit=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        found = _estimate(self, run, X, fourth_powers=True)
        squares, mean_variance = found.sizes()
        # Ledoit, Wolf (2004), section 3.3: the error of the sample, at most that of the target.
        of_target = squares - mean_variance**2
        of_sample = min((found.fourth_powers / len(found.mean) - squares) / found.n_rows, of_target)
        self.shrinkage_ = found.as_scalar(of_sample / of_target if of_sample != 0 else 0.0)
        _keep(self, found, _towards_mean_variance(found.covariance, self.shrinkage_))
        return self


class OAS(Accelerated, covariance.OAS):
    __doc__ = on_the_gpu(covariance.OAS, _NOTE)

    @accelerated(covariance.OAS, is_fit=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        found = _estimate(self, run, X)
        n_columns = len(found.mean)
        squares, mean_variance = found.sizes()
        # Chen, Wiesel, Eldar, Hero (2010), equation 23, divided by p² and without its 2 / p, as in scikit-learn.
        mean_square = squares / n_columns
        below = (found.n_rows + 1) * (mean_square - mean_variance**2 / n_columns)
        shrinkage = (mean_square + mean_variance**2) / below if below != 0 else 1.0
        self.shrinkage_ = found.as_scalar(shrinkage) if shrinkage < 1 or n_columns == 1 else 1.0
        _keep(self, found, _towards_mean_variance(found.covariance, self.shrinkage_))
        return self


class _Found(NamedTuple):
    """What an engine found of the columns."""

    n_rows: int
    mean: np.ndarray
    covariance: np.ndarray
    fourth_powers: float
    is_rounded: bool

    def sizes(self) -> tuple[float, float]:
        """Return the sum of the squares of the covariance over its width, and the mean variance."""
        exact = self.covariance.astype(np.float64)
        return float(np.sum(exact**2)) / len(exact), float(np.trace(exact)) / len(exact)

    def as_scalar(self, shrinkage: float) -> float:
        """Return the shrinkage in scikit-learn's type, which follows NumPy's; 0 for one column, whatever it is."""
        one = self.covariance.dtype.type(1)
        return type(one * 1.0)(shrinkage) if len(self.covariance) > 1 else 0.0


def _estimate(
    estimator: Any, run: Run, X: npt.ArrayLike, *, promotes_mean: bool = False, fourth_powers: bool = False
) -> _Found:
    """Return what an engine finds of the columns of `X`.

    `promotes_mean`: scikit-learn's covariance about the mean is float64 for any data, that about 0 of their type.
    Where it first takes away a mean of their type, or zeros of float64, it is the other way round.
    """
    x = validated(estimator, X, ensure_all_finite=False)
    if x.dtype == np.float16:
        msg = "float16 data run in scikit-learn"
        raise LeaveToScikitLearnError(msg)
    if len(x) == 1:
        msg = "one row: scikit-learn warns of it"
        raise LeaveToScikitLearnError(msg, is_error=True)
    if x.dtype != np.float32:
        x = x.astype(np.float64, copy=False)
    about_mean = not estimator.assume_centered
    work = "shrinkage_of" if fourth_powers else "covariance_of"
    device = run.place(work, estimator, x, solves_on_host=True)
    is_promoted = x.dtype == np.float32 and about_mean == promotes_mean
    # Natively in the type of the result, as in scikit-learn.
    rows = x.astype(np.float64) if is_promoted and device is None else x
    try:
        mean, found, powers = _core.covariance_of(aligned(rows), about_mean, fourth_powers, device)
    except _core.NonFiniteError as error:
        raise_if_not_finite(x, estimator=estimator, name="X")
        msg = "`X` holds values that are not finite"
        raise LeaveToScikitLearnError(msg) from error
    location = mean.astype(x.dtype) if about_mean else np.zeros(x.shape[1])
    found = found if is_promoted else found.astype(x.dtype, copy=False)
    return _Found(len(x), location, found, powers, is_promoted and device is not None)


def _towards_mean_variance(found: np.ndarray, shrinkage: float) -> np.ndarray:
    shrunk = (1.0 - shrinkage) * found
    shrunk.flat[:: len(found) + 1] += shrinkage * np.trace(found) / len(found)
    return shrunk


def _keep(estimator: Any, found: _Found, kept: np.ndarray) -> None:
    """Set what a fit sets; leave to scikit-learn what it would hold with more digits than its inverse forgives."""
    if found.is_rounded and not np.linalg.cond(kept, "fro") < _MOST_CONDITION:
        msg = f"the covariance is ill-conditioned for float32: the limit is {_MOST_CONDITION:.0e}"
        raise LeaveToScikitLearnError(msg)
    estimator.location_ = found.mean
    estimator._set_covariance(kept)
