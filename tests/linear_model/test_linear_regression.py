"""Least squares: against float64 at every condition, offset and scale; what is left to scikit-learn, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model
from scipy import linalg

import metalml as ml

N_ROWS, N_COLS = 600, 8


def data(condition: float, offset: float, scale: float, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    left, _ = linalg.qr(random.normal(size=(N_ROWS, N_COLS)), mode="economic")
    right, _ = linalg.qr(random.normal(size=(N_COLS, N_COLS)))
    X = (left * np.geomspace(1, 1 / condition, N_COLS)) @ right * np.sqrt(N_ROWS)
    y = X @ np.linspace(-1, 2, N_COLS) + 2 + 0.1 * random.normal(size=N_ROWS)
    return (X * scale + offset * scale).astype(dtype), y.astype(dtype)


def exact(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients and intercept for these very values, in extended precision where the machine has it."""
    X, y = X.astype(np.longdouble), y.astype(np.longdouble)
    weights = np.ones(len(X), np.longdouble) if weights is None else weights.astype(np.longdouble)
    x_mean, y_mean = weights @ X / weights.sum(), weights @ y / weights.sum()
    scale = np.max(np.abs(X - x_mean), axis=0)
    root = np.sqrt(weights)[:, None]
    rows, targets = ((X - x_mean) / scale * root).astype(float), ((y - y_mean) * root[:, 0]).astype(float)
    coef = linalg.lstsq(rows, targets)[0]
    for _ in range(3):
        residual = targets - rows.astype(np.longdouble) @ coef.astype(np.longdouble)
        coef = coef + linalg.lstsq(rows, residual.astype(float))[0]
    coef = coef / scale.astype(float)
    return coef, np.asarray(y_mean - x_mean @ coef, dtype=float)


@pytest.mark.parametrize("backend", ["native", "gpu"], indirect=True)
@pytest.mark.parametrize("condition", [1, 10, 100, 300, 1e3, 1e4, 1e5])
@pytest.mark.parametrize(("offset", "scale"), [(0, 1), (100, 1), (0, 1e-6), (0, 1e6), (1e5, 1)])
def test_as_near_to_the_truth_as_scikit_learn(backend: str, condition: float, offset: float, scale: float) -> None:
    X, y = data(condition, offset, scale, np.float32)
    coef, intercept = exact(X, y)
    with ml.config_context(on_fallback="record"):
        ours = ml.linear_model.LinearRegression().fit(X, y)
    theirs = sklearn.linear_model.LinearRegression().fit(X, y)
    eps = np.finfo(np.float32).eps
    size = np.max(np.abs(coef))
    assert np.max(np.abs(ours.coef_ - coef)) <= max(np.max(np.abs(theirs.coef_ - coef)), 2 * eps * size)
    terms = np.sum(np.abs(coef) * np.abs(X.mean(axis=0))) + abs(intercept)
    assert abs(ours.intercept_ - intercept) <= max(abs(theirs.intercept_ - intercept), 4 * eps * terms)
    if condition <= 100 and offset <= 100:
        assert ours.operation_backends_["fit"] != "cpu"


@pytest.mark.parametrize("condition", [1, 100, 1e3, 1e5])
@pytest.mark.parametrize("offset", [0, 1e5])
def test_float64_on_the_native_engine(condition: float, offset: float) -> None:
    X, y = data(condition, offset, 1, np.float64)
    coef, intercept = exact(X, y)
    with ml.config_context(backend="native"):
        ours = ml.linear_model.LinearRegression().fit(X, y)
    theirs = sklearn.linear_model.LinearRegression().fit(X, y)
    eps = np.finfo(np.float64).eps
    assert np.max(np.abs(ours.coef_ - coef)) <= max(
        4 * np.max(np.abs(theirs.coef_ - coef)), 8 * condition * eps * np.max(np.abs(coef))
    )
    assert abs(ours.intercept_ - intercept) <= max(2 * abs(theirs.intercept_ - intercept), 1e-9 * max(1, offset))


@pytest.mark.parametrize("backend", ["native", "gpu"], indirect=True)
def test_weights_targets_and_no_intercept(backend: str) -> None:
    X, y = data(10, 1, 1, np.float32)
    Y = np.stack([y, 3 - 2 * y], axis=1)
    weights = np.random.default_rng(0).uniform(size=N_ROWS).astype(np.float32)
    weights[:50] = 0
    for intercept in (True, False):
        ours = ml.linear_model.LinearRegression(fit_intercept=intercept).fit(X, Y, weights)
        exact_model = sklearn.linear_model.LinearRegression(fit_intercept=intercept)
        exact_model.fit(X.astype(float), Y.astype(float), weights.astype(float))
        np.testing.assert_allclose(ours.coef_, exact_model.coef_, rtol=2e-5, atol=2e-6)
        np.testing.assert_allclose(ours.intercept_, exact_model.intercept_, rtol=2e-5, atol=2e-6)
        np.testing.assert_allclose(ours.singular_, exact_model.singular_, rtol=1e-5)
        assert ours.rank_ == exact_model.rank_ == N_COLS


@pytest.mark.parametrize(
    "case",
    ["a column twice", "a constant column", "fewer rows than columns", "as many rows as columns"],
)
def test_the_answer_of_least_norm_comes_from_scikit_learn(case: str) -> None:
    X, y = data(1, 0, 1, np.float64)
    if case == "a column twice":
        X[:, 1] = X[:, 0]
    elif case == "a constant column":
        X[:, 1] = 3
    else:
        X = np.random.default_rng(0).normal(size=(150, 200 if case.startswith("fewer") else 150))
        y = X[:, 0] * 2
    with ml.config_context(backend="native"):
        ours = ml.linear_model.LinearRegression().fit(X, y)
    theirs = sklearn.linear_model.LinearRegression().fit(X, y)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert ours.operation_backends_["fit"] == "cpu"
    assert ours.fallback_reasons_["fit"]


@pytest.mark.parametrize("bad", ["nan", "inf", "positive", "weights"])
def test_refusals_and_errors_are_those_of_scikit_learn(backend: str, bad: str) -> None:
    X, y = data(1, 0, 1, np.float32)
    if bad == "positive":
        with ml.config_context(on_fallback="record"):
            model = ml.linear_model.LinearRegression(positive=True).fit(X, y)
        assert np.all(model.coef_ >= 0)
        return
    if bad == "weights":
        with pytest.raises(ValueError, match="sample_weight"):
            ml.linear_model.LinearRegression().fit(X, y, np.full((3,), 1.0))
        return
    X[7, 3] = getattr(np, bad)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        ml.linear_model.LinearRegression().fit(X, y)
