"""Predictions and decisions of every model with coefficients: on each engine those of scikit-learn's own class."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from sklearn.base import is_classifier

import metalml as ml
from compat import instance_for_checks, scikit_learn_class
from estimators import implemented

MODELS = [
    owner
    for owner in implemented()
    if owner.__module__.split(".")[1] in {"linear_model", "svm"} and "predict" in owner.__metalml_operations__
]
N_ROWS, N_COLS = 200, 6

pytestmark = pytest.mark.filterwarnings("ignore")  # few iterations do not converge


def data(owner: type, offset: float = 0.0, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, and targets as the model wants them."""
    random = np.random.default_rng(3)
    X = random.normal(size=(N_ROWS, N_COLS))
    y = X @ np.linspace(-1, 2, N_COLS) + random.normal(size=N_ROWS)
    if is_classifier(owner()):
        y = np.digitize(y, [-1, 1])
    if owner.__name__.startswith("MultiTask"):
        y = np.stack([y, -y], axis=1)
    return (X * scale + offset).astype(np.float32), y


def methods(model: object) -> list[str]:
    return [name for name in type(model).__metalml_operations__ if name not in {"fit", "partial_fit"}]


def fitted(owner: type, X: np.ndarray, y: np.ndarray) -> tuple[object, object]:
    """Return our model, fitted in scikit-learn, and scikit-learn's with the same state."""
    with ml.config_context(on_fallback="record"):
        ours = instance_for_checks(owner).fit(X, y)
    theirs = scikit_learn_class(ours).__new__(scikit_learn_class(ours))
    vars(theirs).update({name: value for name, value in vars(ours).items() if not name.startswith("_metalml")})
    return ours, theirs


@pytest.mark.parametrize("owner", MODELS, ids=lambda owner: owner.__name__)
@pytest.mark.parametrize("backend", ["native", "gpu"], indirect=True)
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e3, 1.0), (0.0, 1e-6), (0.0, 1e6)])
def test_as_near_to_float64_as_scikit_learn(owner: type, backend: str, offset: float, scale: float) -> None:
    X, y = data(owner, offset, scale)
    try:
        ours, theirs = fitted(owner, X, y)
    except ValueError as error:
        pytest.skip(f"scikit-learn itself does not fit these data: {error}")
    for name in methods(ours):
        found = getattr(ours, name)(X)
        expected, exact = getattr(theirs, name)(X), getattr(theirs, name)(X.astype(np.float64))
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        if found.dtype.kind != "f":
            assert np.mean(found != exact) <= np.mean(expected != exact) + 0.01
            continue
        terms = np.abs(X.astype(np.float64)) @ np.abs(np.atleast_2d(ours.coef_)).T + np.abs(ours.intercept_)
        eps = np.finfo(np.float32 if backend == "gpu" else found.dtype).eps
        # What is made of decisions, such as logarithms of probabilities, follows them by no more.
        assert np.max(np.abs(found - exact)) <= max(np.max(np.abs(expected - exact)), 8 * eps * np.max(terms))
        where = ours.operation_backends_[name]
        assert where == "native" if backend == "native" else where in {"metal", "vulkan", "dx12"}


@pytest.mark.parametrize("owner", MODELS, ids=lambda owner: owner.__name__)
def test_float64_keeps_its_precision(owner: type, backend: str) -> None:
    X, y = data(owner)
    ours, theirs = fitted(owner, X.astype(np.float64), y)
    with ml.config_context(on_fallback="record", precision="preserve"):
        for name in methods(ours):
            found, expected = getattr(ours, name)(X.astype(np.float64)), getattr(theirs, name)(X.astype(np.float64))
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
def test_a_strict_gpu_refuses_a_fit_that_it_has_not(backend: str) -> None:
    X, y = data(ml.linear_model.HuberRegressor)
    with pytest.raises(ml.BackendUnavailableError, match="`fit` runs in scikit-learn"):
        ml.linear_model.HuberRegressor().fit(X, y)


def test_standard_deviations_run_in_scikit_learn() -> None:
    X, y = data(ml.linear_model.BayesianRidge)
    model = ml.linear_model.BayesianRidge().fit(X, y)
    with ml.config_context(backend="native"):
        mean, deviation = model.predict(X, return_std=True)
    assert mean.shape == deviation.shape == (N_ROWS,)
    assert model.operation_backends_["predict"] == "cpu"
    assert "return_std" in model.fallback_reasons_["predict"]


def test_labels_of_any_kind() -> None:
    X, y = data(ml.linear_model.LogisticRegression)
    names = np.array(["low", "middle", "high"])[y]
    for path in ("linear_model.LogisticRegression", "linear_model.SGDClassifier", "svm.LinearSVC"):
        module, name = path.split(".")
        model = getattr(importlib.import_module(f"metalml.{module}"), name)().fit(X, names)
        with ml.config_context(backend="native"):
            assert set(model.predict(X)) <= {"low", "middle", "high"}
            assert model.score(X, names) > 0.5


def test_a_model_that_is_not_fitted_says_so() -> None:
    for owner in MODELS:
        with pytest.raises(Exception, match="not fitted"):
            instance_for_checks(owner).predict(np.zeros((200, N_COLS)))
