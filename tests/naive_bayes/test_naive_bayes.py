"""Naive Bayes: against float64 scikit-learn, far from the origin and at any scale; parts, weights, priors, labels."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import metalml as ml
from tolerance import allowed, assert_as_right_as, relative_error

ours = ml.naive_bayes
ENGINES = ["native", "gpu"]
COUNTS = ["MultinomialNB", "ComplementNB", "BernoulliNB"]
NAMES = ["GaussianNB", *COUNTS]
METHODS = ["predict_joint_log_proba", "predict_log_proba", "predict_proba"]
WEIGHTS = np.random.default_rng(3).uniform(0.5, 2, size=600).astype(np.float32)


def blobs(*, offset: float = 0.0, scale: float = 1.0, apart: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 4, size=600)
    places = apart * rng.normal(size=(4, 7))
    return ((rng.normal(size=(600, 7)) + places[y] + offset) * scale).astype(np.float32), y


def counts() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 4, size=600)
    rates = rng.uniform(0.1, 3, size=(4, 9))
    return rng.poisson(rates[y]).astype(np.float32), y


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    return blobs() if name == "GaussianNB" else counts()


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(
    ("offset", "scale", "apart"),
    [(0, 1, 1), (1e3, 1, 1), (1e5, 1, 1), (0, 1, 1e3), (0, 1, 1e5), (0, 1e-6, 1), (10, 1e6, 1)],
)
def test_gaussian_is_as_right_as_scikit_learn(
    backend: str, weights: np.ndarray | None, offset: float, scale: float, apart: float
) -> None:
    X, y = blobs(offset=offset, scale=scale, apart=apart)
    exact = theirs.GaussianNB().fit(X.astype(np.float64), y, weights)
    plain, found = (space.GaussianNB().fit(X, y, weights) for space in (theirs, ours))
    assert found.backend_ != "cpu"
    for attribute in ("theta_", "var_", "class_prior_", "class_count_"):
        assert_as_right_as(getattr(plain, attribute), getattr(found, attribute), getattr(exact, attribute), attribute)
    # The state as it is kept decides: what means of float32 have lost is no fault of the likelihoods.
    kept = theirs.GaussianNB().fit(X.astype(np.float64), y)
    kept.theta_, kept.var_, kept.class_prior_ = (
        value.astype(np.float64) for value in (found.theta_, found.var_, found.class_prior_)
    )
    right = kept.predict_joint_log_proba(X.astype(np.float64))
    joint = found.predict_joint_log_proba(X)
    assert relative_error(joint, right) < allowed(np.float32)
    size = np.abs(right).max(axis=1, keepdims=True) * allowed(np.float32)
    assert np.all(np.abs(found.predict_log_proba(X) - kept.predict_log_proba(X.astype(np.float64))) <= size * 2)
    assert np.all(found.predict(X) == kept.predict(X))


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_as_right_as_scikit_learn(backend: str, name: str, weights: np.ndarray | None) -> None:
    X, y = counts()
    exact = getattr(theirs, name)().fit(X.astype(np.float64), y, weights)
    found = getattr(ours, name)().fit(X, y, weights)
    assert found.backend_ != "cpu"
    for attribute in ("feature_count_", "feature_log_prob_", "class_log_prior_", "class_count_"):
        assert relative_error(getattr(found, attribute), getattr(exact, attribute)) < allowed(np.float32) / 8
    for method in METHODS:
        assert relative_error(getattr(found, method)(X), getattr(exact, method)(X)) < allowed(np.float32, 4)
    np.testing.assert_array_equal(found.predict(X), exact.predict(X))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
def test_native_float64_on_real_data(name: str, load: object) -> None:
    X, y = load(return_X_y=True)
    with ml.config_context(backend="native"):
        found, exact = (getattr(space, name)().fit(X, y) for space in (ours, theirs))
        for method in METHODS:
            np.testing.assert_allclose(getattr(found, method)(X), getattr(exact, method)(X), rtol=1e-8, atol=1e-12)
        np.testing.assert_array_equal(found.predict(X), exact.predict(X))
    assert found.backend_ == "native"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_parts(backend: str, name: str, weights: np.ndarray | None) -> None:
    X, y = data(name)
    found, expected = getattr(ours, name)(), getattr(theirs, name)()
    for start in range(0, 600, 200):
        part = slice(start, start + 200)
        for model in (found, expected):
            model.partial_fit(
                X[part], y[part], classes=np.arange(4), sample_weight=None if weights is None else weights[part]
            )
    for attribute in ("theta_", "var_", "feature_log_prob_", "class_prior_", "class_count_"):
        if hasattr(expected, attribute):
            np.testing.assert_allclose(getattr(found, attribute), getattr(expected, attribute), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_without_a_class(name: str) -> None:
    X, y = data(name)
    order = np.argsort(y, kind="stable")
    with ml.config_context(backend="native"):
        found, expected = (getattr(space, name)() for space in (ours, theirs))
        for model in (found, expected):
            model.partial_fit(X[order[:300]], y[order[:300]], classes=np.arange(4))
            model.partial_fit(X[order[300:]], y[order[300:]])
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("labels", [np.array(list("dacb")), np.array([5, -1, 9, 2]), np.array([0.5, 1, -3, 2]) * 2])
def test_labels_of_any_kind(backend: str, name: str, labels: np.ndarray) -> None:
    X, y = data(name)
    found, expected = (getattr(space, name)().fit(X, labels[y]) for space in (ours, theirs))
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    assert np.mean(found.predict(X) == expected.predict(X)) > 0.99
    assert found.predict(X).dtype == expected.predict(X).dtype


@pytest.mark.parametrize("name", NAMES)
def test_one_class(backend: str, name: str) -> None:
    X, y = data(name)
    found, expected = (getattr(space, name)().fit(X, np.zeros_like(y)) for space in (ours, theirs))
    np.testing.assert_allclose(found.predict_joint_log_proba(X), expected.predict_joint_log_proba(X), rtol=1e-4)


def test_priors(backend: str) -> None:
    X, y = blobs()
    priors = [0.1, 0.2, 0.3, 0.4]
    found, expected = (space.GaussianNB(priors=priors).fit(X, y) for space in (ours, theirs))
    np.testing.assert_array_equal(found.class_prior_, expected.class_prior_)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-3, atol=1e-6)
    for wrong in ([0.5, 0.5], [0.1] * 4, [-0.5, 0.5, 0.5, 0.5]):
        with pytest.raises(ValueError, match=r"(?i)prior"):
            ours.GaussianNB(priors=wrong).fit(X, y)


@pytest.mark.parametrize("parameters", [{"alpha": 0.3}, {"fit_prior": False}, {"class_prior": [0.1, 0.2, 0.3, 0.4]}])
@pytest.mark.parametrize("name", COUNTS)
def test_parameters(backend: str, name: str, parameters: dict[str, object]) -> None:
    X, y = counts()
    found, expected = (getattr(space, name)(**parameters).fit(X, y) for space in (ours, theirs))
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("name", "parameters"), [("BernoulliNB", {"binarize": 1.5}), ("ComplementNB", {"norm": True})])
def test_parameters_of_their_own(backend: str, name: str, parameters: dict[str, object]) -> None:
    X, y = counts()
    found, expected = (getattr(space, name)(**parameters).fit(X, y) for space in (ours, theirs))
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_negative_counts_are_an_error(backend: str, name: str) -> None:
    X, y = blobs()
    with pytest.raises(ValueError, match="Negative values"):
        getattr(ours, name)().fit(X, y)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_an_error(backend: str, name: str, value: float) -> None:
    X, y = data(name)
    model = getattr(ours, name)().fit(X, y)
    X[7, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        getattr(ours, name)().fit(X, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(X)


@pytest.mark.parametrize("name", NAMES)
def test_unknown_labels_of_a_part(backend: str, name: str) -> None:
    X, y = data(name)
    model, expected = (getattr(space, name)() for space in (ours, theirs))
    for each in (model, expected):
        each.partial_fit(X, y, classes=np.arange(4))
    try:
        expected.partial_fit(X, y + 1)
    except ValueError:
        with pytest.raises(ValueError, match="do not exist"):
            model.partial_fit(X, y + 1)
    else:
        with ml.config_context(on_fallback="record"):
            model.partial_fit(X, y + 1)
        np.testing.assert_allclose(model.class_count_, expected.class_count_)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the arithmetic that is left to scikit-learn
def test_a_class_without_variance_is_left_to_scikit_learn() -> None:
    X, y = blobs()
    X[:] = 3
    with ml.config_context(backend="native"):
        found, expected = (space.GaussianNB().fit(X, y) for space in (ours, theirs))
        np.testing.assert_array_equal(found.predict_joint_log_proba(X), expected.predict_joint_log_proba(X))
    assert "variance" in found.fallback_reasons_["predict_joint_log_proba"]


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
def test_rows_too_far_for_float32(backend: str) -> None:
    X, y = blobs()
    model = ours.GaussianNB().fit(X, y)
    far = np.full((3, 7), 3e38, dtype=np.float32)
    with pytest.raises(ml.BackendUnavailableError, match="farther"):
        model.predict(far)


def test_many_classes(backend: str) -> None:
    rng = np.random.default_rng(8)
    y = np.arange(3000) % 1000
    X = (rng.normal(size=(3000, 5)) + y[:, None] / 100).astype(np.float32)
    found, expected = (space.GaussianNB().fit(X, y) for space in (ours, theirs))
    np.testing.assert_allclose(found.theta_, expected.theta_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.var_, expected.var_, rtol=1e-3)
    assert np.mean(found.predict(X) == expected.predict(X)) > 0.98


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
def test_float64_data_that_float32_would_blur_stay_in_scikit_learn(backend: str) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 2)) + 1e5, np.arange(300) % 2
    with pytest.raises(ml.BackendUnavailableError, match="too few digits"):
        ml.naive_bayes.GaussianNB().fit(X, y)
    with ml.config_context(on_fallback="record"):
        model = ml.naive_bayes.GaussianNB().fit(X, y)
        found = model.predict_proba(X)
    np.testing.assert_array_equal(found, theirs.GaussianNB().fit(X, y).predict_proba(X))
    with pytest.raises(ml.BackendUnavailableError, match="too few digits"):
        model.predict(X)
    assert ml.naive_bayes.GaussianNB().fit(X.astype(np.float32), y).backend_ != "cpu"
