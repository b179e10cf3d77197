"""RidgeClassifier: Ridge's fit on the classes' signs; weights, labels of any kind, several labels at once."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model as theirs
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import metalml as ml
from tolerance import NATIVE_FLOAT64, assert_as_right_as, relative_error

ours = ml.linear_model
ENGINES = ["native", "gpu"]
WEIGHTS = np.random.default_rng(9).uniform(0.5, 2, size=400)


def data(n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 6)).astype(np.float32) + 3
    score = X @ rng.normal(size=6) + rng.normal(size=400)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_float32_is_as_right_as_scikit_learn(
    backend: str, n_classes: int, weights: np.ndarray | None, class_weight: str | None
) -> None:
    X, y = data(n_classes)
    exact = theirs.RidgeClassifier(class_weight=class_weight).fit(X.astype(np.float64), y, weights)
    plain, found = (space.RidgeClassifier(class_weight=class_weight).fit(X, y, weights) for space in (theirs, ours))
    assert found.backend_ != "cpu"
    for attribute in ("coef_", "intercept_"):
        assert_as_right_as(
            getattr(plain, attribute), getattr(found, attribute), getattr(exact, attribute), attribute, ulps=4
        )
    assert np.mean(found.predict(X) == exact.predict(X)) > 0.99


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
def test_native_float64_on_real_data(load: object) -> None:
    X, y = load(return_X_y=True)
    with ml.config_context(backend="native", on_fallback="record"):
        found, exact = (space.RidgeClassifier().fit(X, y) for space in (ours, theirs))
        np.testing.assert_array_equal(found.predict(X), exact.predict(X))
    condition = np.linalg.cond(X - X.mean(axis=0)) ** 2 if load is not load_digits else 1e4
    assert relative_error(found.coef_, exact.coef_) < NATIVE_FLOAT64 * min(condition, 1e8)


def test_labels_of_any_kind(backend: str) -> None:
    X, y = data()
    for labels in (np.array(["b", "a", "c"]), np.array([3.0, -1.0, 7.0]), np.array([True, False, True])):
        found, expected = (space.RidgeClassifier().fit(X, labels[y]) for space in (ours, theirs))
        np.testing.assert_array_equal(found.classes_, expected.classes_)
        assert np.mean(found.predict(X) == expected.predict(X)) > 0.99


def test_several_labels_at_once(backend: str) -> None:
    X, y = data()
    many = np.stack([y > 0, y > 1], axis=1).astype(int)
    found, expected = (space.RidgeClassifier().fit(X, many) for space in (ours, theirs))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-3, atol=1e-5)
    assert np.mean(found.predict(X) == expected.predict(X)) > 0.99


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_an_error(backend: str, value: float) -> None:
    X, y = data()
    X[3, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        ours.RidgeClassifier().fit(X, y)


def test_other_solvers_stay_in_scikit_learn() -> None:
    X, y = data()
    with ml.config_context(backend="native"):
        found, expected = (space.RidgeClassifier(solver="svd").fit(X, y) for space in (ours, theirs))
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert "svd" in found.fallback_reasons_["fit"]
