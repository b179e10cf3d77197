"""Laws that hold for any data: shifting, scaling, permuting and repeating rows, splitting, going back and forth."""

from __future__ import annotations

import hypothesis.extra.numpy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import metalml as ml
from tolerance import allowed, assert_close

# The same examples on every run; a fixture of the whole function is what is wanted here.
LAW = settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
ENGINES = pytest.mark.parametrize("backend", ["native", "gpu"], indirect=True)


@st.composite
def matrices(draw: st.DrawFn, *, most_rows: int = 70, most_columns: int = 9) -> np.ndarray:
    """Draw float32 data of some shape, offset and scale, with repeated rows now and then."""
    n_rows, n_columns = draw(st.integers(2, most_rows)), draw(st.integers(1, most_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    offset, scale = draw(st.sampled_from([0.0, 1.0, 50.0])), draw(st.sampled_from([1e-4, 1.0, 1e4]))
    X = (rng.normal(size=(n_rows, n_columns)) + offset) * scale
    if draw(st.booleans()):
        X[n_rows // 2 :] = X[: n_rows - n_rows // 2]
    return X.astype(np.float32)


def targets(X: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(1).normal(size=len(X))
    return ((X - X.mean(axis=0)).sum(axis=1) / (np.abs(X).max() + 1e-30) + noise).astype(np.float32)


@ENGINES
@LAW
@given(X=matrices())
def test_standardized_columns_have_mean_0_and_variance_1(backend: str, X: np.ndarray) -> None:
    Z = ml.preprocessing.StandardScaler().fit_transform(X).astype(np.float64)
    spread = np.std(X.astype(np.float64), axis=0)
    varies = spread > 0
    # Rounding a value of X to float32 moves it by this many standard deviations.
    step = np.max(np.abs(X)[:, varies] / spread[varies], initial=1.0) * allowed(np.float32)
    assert np.all(np.abs(Z.mean(axis=0)) <= step)
    assert np.all(np.abs(Z.std(axis=0)[varies] - 1) <= step)


@ENGINES
@LAW
@given(X=matrices())
def test_the_way_back_gives_the_data(backend: str, X: np.ndarray) -> None:
    scaler = ml.preprocessing.StandardScaler().fit(X)
    assert_close(scaler.inverse_transform(scaler.transform(X)), X, np.float32)


@ENGINES
@LAW
@given(X=matrices(), cut=st.integers(1, 69), seed=st.integers(0, 99))
def test_statistics_do_not_depend_on_order_or_parts(backend: str, X: np.ndarray, cut: int, seed: int) -> None:
    whole = ml.preprocessing.StandardScaler().fit(X)
    shuffled = X[np.random.default_rng(seed).permutation(len(X))]
    parts = ml.preprocessing.StandardScaler()
    for part in (shuffled[: cut % len(X)], shuffled[cut % len(X) :]):
        if len(part):
            parts.partial_fit(part)
    assert_close(parts.mean_, whole.mean_, np.float32)
    assert_close(parts.var_, whole.var_, np.float32, len(X))


@ENGINES
@LAW
@given(X=matrices(), weights=hypothesis.extra.numpy.arrays(np.int64, 70, elements=st.integers(0, 3)))
def test_a_whole_weight_is_that_many_copies_of_a_row(backend: str, X: np.ndarray, weights: np.ndarray) -> None:
    weights = weights[: len(X)].copy()
    weights[:2] = 1
    copies = np.repeat(np.arange(len(X)), weights)
    weighted = ml.preprocessing.StandardScaler().fit(X, sample_weight=weights)
    repeated = ml.preprocessing.StandardScaler().fit(X[copies])
    assert_close(weighted.mean_, repeated.mean_, np.float32)
    assert_close(weighted.var_, repeated.var_, np.float32, len(X))
    alpha = float(len(X)) * float(np.var(X.astype(np.float64)) + 1e-12)
    y = targets(X)
    first = ml.linear_model.Ridge(alpha=alpha).fit(X, y, sample_weight=weights)
    second = ml.linear_model.Ridge(alpha=alpha).fit(X[copies], y[copies])
    assert_close(first.predict(X), second.predict(X), np.float32, 16 * len(X))


@ENGINES
@LAW
@given(X=matrices(), seed=st.integers(0, 99))
def test_ridge_does_not_depend_on_the_order_of_rows_or_columns(backend: str, X: np.ndarray, seed: int) -> None:
    alpha, y = float(len(X)) * float(np.var(X.astype(np.float64)) + 1e-12), targets(X)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    plain = ml.linear_model.Ridge(alpha=alpha).fit(X, y)
    permuted = ml.linear_model.Ridge(alpha=alpha).fit(X[rows][:, columns], y[rows])
    assert_close(permuted.predict(X[:, columns]), plain.predict(X), np.float32, 16 * len(X))


@ENGINES
@LAW
@given(X=matrices(), power=st.sampled_from([-8, -1, 3, 12]))
def test_a_power_of_two_moves_only_the_exponents(backend: str, X: np.ndarray, power: int) -> None:
    factor = np.float32(2.0**power)
    plain, scaled = ml.preprocessing.StandardScaler().fit(X), ml.preprocessing.StandardScaler().fit(X * factor)
    assert_close(scaled.mean_, plain.mean_ * factor, np.float32)
    assert_close(scaled.scale_ / np.where(plain.var_ == 0, 1, factor), plain.scale_, np.float32, len(X))


@ENGINES
@LAW
@given(X=matrices())
def test_the_gradient_of_ridge_is_0_at_its_answer(backend: str, X: np.ndarray) -> None:
    values, y = X.astype(np.float64), targets(X).astype(np.float64)
    alpha = float(len(X)) * float(np.var(values) + 1e-12)
    model = ml.linear_model.Ridge(alpha=alpha).fit(X, y.astype(np.float32))
    centred = values - values.mean(axis=0)
    coef = model.coef_.astype(np.float64)
    gradient = centred.T @ (centred @ coef - (y - y.mean())) + alpha * coef
    # float32 coefficients are off by an ulp each, and the gradient is that times the matrix.
    size = np.linalg.norm(centred.T @ centred + alpha * np.eye(X.shape[1]), 2)
    assert np.linalg.norm(gradient) <= allowed(np.float32, len(X)) * (
        size * np.linalg.norm(coef) + np.linalg.norm(centred.T @ y)
    )
