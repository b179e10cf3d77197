"""What the answers are: sums in integers and systems in fractions, rounded once at the end.

Floating-point numbers are integers times a power of two, so nothing is lost and no precision has to be argued about.
Meant for a few hundred rows and a few columns.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_MANTISSA_BITS = 53


def integers(values: npt.ArrayLike) -> tuple[np.ndarray, Fraction]:
    """Return whole numbers (an object array) and the unit they count."""
    values = np.asarray(values, dtype=np.float64)
    mantissas, exponents = np.frexp(values)
    lowest = int(np.min(exponents[values != 0], initial=0))
    wholes = np.ldexp(mantissas, _MANTISSA_BITS).astype(np.int64).astype(object)
    shifts = np.where(values != 0, exponents - lowest, 0).astype(object)
    return wholes << shifts, Fraction(2) ** (lowest - _MANTISSA_BITS)


def moments(X: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of each column; NaN entries are left out, a column without entries gives NaN."""
    X = np.asarray(X, dtype=np.float64)
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    means, variances = [], []
    for column in X.T:
        known = ~np.isnan(column)
        if not known.any():
            means.append(np.nan)
            variances.append(np.nan)
            continue
        x, unit = integers(column[known])
        w, _ = integers(weights[known])
        total, first, second = w.sum(), (w * x).sum(), (w * x * x).sum()
        means.append(float(Fraction(first, total) * unit))
        variances.append(float(Fraction(total * second - first * first, total * total) * unit**2))
    return np.array(means), np.array(variances)


class Linear(NamedTuple):
    """A linear model without rounding."""

    coef: list[list[Fraction]]
    intercept: list[Fraction]

    def rounded(self) -> tuple[np.ndarray, np.ndarray]:
        """Return `coef_` (targets x columns) and `intercept_` in float64."""
        return np.array([[float(c) for c in row] for row in self.coef]), np.array([float(i) for i in self.intercept])

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Return the predictions, rows x targets."""
        x, unit = integers(X)
        rows = [[Fraction(value) * unit for value in row] for row in x]
        pairs = list(zip(self.coef, self.intercept, strict=True))
        return np.array([[float(sum(map(_product, row, c), i)) for c, i in pairs] for row in rows])


def _product(a: Fraction, b: Fraction) -> Fraction:
    return a * b


def linear(coef: npt.ArrayLike, intercept: npt.ArrayLike) -> Linear:
    """Return the model with these stored coefficients, for exact predictions."""
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(intercept, dtype=np.float64), (len(coef),))
    return Linear([[Fraction(float(c)) for c in row] for row in coef], [Fraction(float(i)) for i in intercept])


def ridge(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    alpha: npt.ArrayLike = 1.0,
    *,
    sample_weight: npt.ArrayLike | None = None,
    fit_intercept: bool = True,
) -> Linear:
    """Minimise sum_i w_i (y_i - x_i c - b)^2 + alpha |c|^2 for every target."""
    x, x_unit = integers(X)
    targets, y_unit = integers(np.reshape(np.asarray(y, dtype=np.float64), (len(x), -1)))
    w, w_unit = integers(np.ones(len(x)) if sample_weight is None else sample_weight)
    total = Fraction(w.sum()) if fit_intercept else None
    penalties = np.broadcast_to(np.asarray(alpha, dtype=np.float64), (targets.shape[1],))
    x_sum, gram = w @ x, (x.T * w) @ x
    coef, intercept = [], []
    for t in range(targets.shape[1]):
        y_sum, cross = w @ targets[:, t], (x.T * w) @ targets[:, t]
        matrix = [[Fraction(value) for value in row] for row in gram]
        right = [Fraction(value) for value in cross]
        if total is not None:
            matrix = [
                [value - x_sum[i] * x_sum[j] / total for j, value in enumerate(row)] for i, row in enumerate(matrix)
            ]
            right = [value - x_sum[i] * y_sum / total for i, value in enumerate(right)]
        scale = w_unit * x_unit
        for i, row in enumerate(matrix):
            matrix[i] = [value * scale * x_unit for value in row]
            matrix[i][i] += Fraction(float(penalties[t]))
        solution = _solve(matrix, [value * scale * y_unit for value in right])
        coef.append(solution)
        offset = sum((c * x_sum[j] for j, c in enumerate(solution)), Fraction(0)) * x_unit
        intercept.append((y_sum * y_unit - offset) / total if total is not None else Fraction(0))
    return Linear(coef, intercept)


def _solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    solution: list[Fraction] = [Fraction(0)] * n
    for i in reversed(range(n)):
        known = sum((rows[i][j] * solution[j] for j in range(i + 1, n)), Fraction(0))
        solution[i] = (rows[i][n] - known) / rows[i][i]
    return solution


def condition(X: npt.ArrayLike, alpha: float, *, fit_intercept: bool = True) -> float:
    """Return the condition number of the system that Ridge solves."""
    X = np.asarray(X, dtype=np.float64)
    centred = X - X.mean(axis=0) if fit_intercept else X
    values = np.linalg.svd(centred, compute_uv=False) ** 2 + alpha
    return float(values.max() / values.min())
