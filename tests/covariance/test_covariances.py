"""The covariances: against float64 scikit-learn on well and badly scaled data; what is left to scikit-learn; errors."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.covariance as theirs
from sklearn.datasets import load_breast_cancer, load_diabetes

import metalml as ml
from tolerance import NATIVE_FLOAT64, allowed, assert_as_right_as, relative_error

ours = ml.covariance
NAMES = ["EmpiricalCovariance", "ShrunkCovariance", "LedoitWolf", "OAS"]
ENGINES = ["native", "gpu"]


def rows(n_rows: int = 400, n_cols: int = 6, *, offset: float = 0.0, scale: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(11)
    mixed = rng.normal(size=(n_rows, n_cols)) @ (np.eye(n_cols) + 0.3 * rng.normal(size=(n_cols, n_cols)))
    return (mixed + offset) * scale


def fitted(name: str, X: np.ndarray, **parameters: object) -> tuple[object, object, object]:
    """Fit ours, theirs, and theirs in float64."""
    found = getattr(ours, name)(**parameters).fit(X)
    plain, exact = (getattr(theirs, name)(**parameters).fit(data) for data in (X, X.astype(np.float64)))
    return found, plain, exact


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("assume_centered", [False, True])
@pytest.mark.parametrize(("offset", "scale"), [(0, 1), (1e3, 1), (1e5, 1), (1, 1e-6), (10, 1e6)])
def test_float32_is_as_right_as_scikit_learn(
    backend: str, name: str, assume_centered: bool, offset: float, scale: float
) -> None:
    # About 0, an offset makes the columns parallel, and the inverse no one's business.
    X = rows(offset=0 if assume_centered else offset, scale=scale).astype(np.float32)
    found, plain, exact = fitted(name, X, assume_centered=assume_centered)
    assert found.backend_ != "cpu"
    assert_as_right_as(plain.covariance_, found.covariance_, exact.covariance_, "covariance_")
    if not assume_centered:
        assert_as_right_as(plain.location_, found.location_, exact.location_, "location_")
    condition = np.linalg.cond(exact.covariance_)
    limit = max(relative_error(plain.precision_, exact.precision_), condition * allowed(np.float32))
    assert relative_error(found.precision_, exact.precision_) <= limit
    if hasattr(exact, "shrinkage_"):
        assert_as_right_as(plain.shrinkage_, found.shrinkage_, exact.shrinkage_, "shrinkage_", ulps=4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("assume_centered", [False, True])
@pytest.mark.parametrize("make", [rows, lambda: load_breast_cancer().data, lambda: load_diabetes(scaled=False).data])
def test_native_float64(name: str, assume_centered: bool, make: object) -> None:
    with ml.config_context(backend="native"):
        found, _, exact = fitted(name, make(), assume_centered=assume_centered)
    assert found.backend_ == "native"
    for attribute in ("location_", "covariance_", "shrinkage_"):
        if hasattr(exact, attribute):
            assert relative_error(getattr(found, attribute), getattr(exact, attribute)) < NATIVE_FLOAT64


def test_float32_on_the_native_engine_has_the_digits_of_scikit_learn() -> None:
    X = rows(offset=1e3).astype(np.float32)
    with ml.config_context(backend="native"):
        found, _, exact = fitted("EmpiricalCovariance", X)
    assert found.covariance_.dtype == np.float64
    assert relative_error(found.covariance_, exact.covariance_) < NATIVE_FLOAT64


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
def test_an_ill_conditioned_covariance_is_not_inverted_from_float32(backend: str) -> None:
    X = rows().astype(np.float32)
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    with pytest.raises(ml.BackendUnavailableError, match="ill-conditioned"):
        ours.EmpiricalCovariance().fit(X)
    with ml.config_context(on_fallback="record"):
        found = ours.EmpiricalCovariance().fit(X)
    assert "ill-conditioned" in found.fallback_reasons_["fit"]
    np.testing.assert_array_equal(found.precision_, theirs.EmpiricalCovariance().fit(X).precision_)


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(300, 1), (40, 60), (2, 3), (700, 130)])
def test_any_shape(backend: str, name: str, shape: tuple[int, int]) -> None:
    X = rows(*shape).astype(np.float32)
    with ml.config_context(on_fallback="record"):
        found, plain, exact = fitted(name, X)
    assert found.covariance_.shape == (shape[1], shape[1])
    assert_as_right_as(plain.covariance_, found.covariance_, exact.covariance_, "covariance_")
    if hasattr(exact, "shrinkage_"):
        assert_as_right_as(plain.shrinkage_, found.shrinkage_, exact.shrinkage_, "shrinkage_", ulps=4)


@pytest.mark.parametrize("name", ["LedoitWolf", "OAS"])
@pytest.mark.parametrize("backend", ENGINES, indirect=True)
def test_constant_columns(backend: str, name: str) -> None:
    X = np.full((200, 3), 7, dtype=np.float32)
    found, plain, _ = fitted(name, X)
    np.testing.assert_array_equal(found.covariance_, plain.covariance_)
    assert found.shrinkage_ == plain.shrinkage_


@pytest.mark.parametrize("name", NAMES)
def test_values_whose_squares_float32_cannot_hold(backend: str, name: str) -> None:
    X = (rows() * 1e25).astype(np.float32)
    with ml.config_context(on_fallback="record"), np.errstate(all="ignore"):
        found = getattr(ours, name)().fit(rows())
        try:
            expected: object = getattr(theirs, name)().fit(X)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:20]):
                getattr(ours, name)().fit(X)
            return
        found = getattr(ours, name)().fit(X)
    exact = getattr(theirs, name)().fit(X.astype(np.float64))
    if np.isfinite(expected.covariance_).all():
        assert relative_error(found.covariance_, exact.covariance_) < 1e-6


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_an_error(backend: str, name: str, value: float) -> None:
    X = rows().astype(np.float32)
    X[8, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        getattr(ours, name)().fit(X)


@pytest.mark.parametrize("name", NAMES)
def test_one_row_is_warned_of(backend: str, name: str) -> None:
    with pytest.warns(UserWarning, match="Only one sample"):
        getattr(ours, name)().fit(np.ones((1, 3)))


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("name", NAMES)
def test_what_follows_a_fit(backend: str, name: str) -> None:
    X = rows().astype(np.float32)
    found, plain, _ = fitted(name, X)
    np.testing.assert_allclose(found.mahalanobis(X), plain.mahalanobis(X), rtol=1e-3)
    assert found.score(X) == pytest.approx(plain.score(X), rel=1e-4)
    without = getattr(ours, name)(store_precision=False).fit(X)
    assert without.precision_ is None
    np.testing.assert_allclose(without.get_precision(), found.precision_)
