"""The record of an estimator's calls: copies, pickles, clones, failures, and what scikit-learn sees of it."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import metalml as ml
from data import regression

if TYPE_CHECKING:
    from collections.abc import Callable

X, Y = regression(128, 4, dtype=np.float32)
NAMES = ("operation_backends_", "fallback_reasons_", "backend_")
METHODS = {ml.linear_model.Ridge: "predict", ml.preprocessing.StandardScaler: "transform"}


@pytest.fixture(params=list(METHODS), ids=lambda owner: owner.__name__)
def model(request: pytest.FixtureRequest) -> object:
    return request.param()


def method_of(model: object) -> str:
    return METHODS[type(model)]


def test_nothing_is_there_before_a_fit(model: object, backend: str) -> None:
    for name in NAMES:
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=name):
            getattr(model, name)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        getattr(model, method_of(model))(X)
    assert not hasattr(model, "operation_backends_")


def test_a_failing_fit_leaves_no_trace(model: object, backend: str) -> None:
    bad = X.copy()
    bad[60] = np.inf
    before = dict(vars(model))
    with pytest.raises(ValueError, match="infinity"):
        model.fit(bad, Y)
    assert not hasattr(model, "backend_")
    if backend != "cpu":
        assert vars(model) == before
        with pytest.raises(NotFittedError):
            check_is_fitted(model)


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
def test_a_refused_fit_leaves_no_trace(model: object, backend: str) -> None:
    before = dict(vars(model))
    with ml.config_context(precision="preserve"), pytest.raises(ml.BackendUnavailableError):
        model.fit(X.astype(np.float64), Y)
    assert vars(model) == before


def test_a_failing_refit_leaves_a_record_that_is_true(model: object, backend: str) -> None:
    model.fit(X, Y)
    kept = model.operation_backends_
    state = pickle.dumps(vars(model).get("coef_", vars(model).get("mean_")))
    bad = X.copy()
    bad[60] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.fit(bad, Y)
    if hasattr(model, "coef_") or hasattr(model, "mean_"):  # scikit-learn's scaler is reset before it looks at the data
        assert model.operation_backends_ == kept
        assert pickle.dumps(vars(model).get("coef_", vars(model).get("mean_"))) == state


def test_calls_add_no_attributes(model: object, backend: str) -> None:
    model.fit(X, Y)
    before = {name: id(value) for name, value in vars(model).items()}
    getattr(model, method_of(model))(X)
    assert {name: id(value) for name, value in vars(model).items()} == before
    assert set(model.operation_backends_) == {"fit", method_of(model)}


def test_a_new_fit_begins_a_new_record(model: object, backend: str) -> None:
    model.fit(X, Y)
    getattr(model, method_of(model))(X)
    model.fit(X, Y)
    assert set(model.operation_backends_) == {"fit"}


@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_has_its_own_record(model: object, backend: str, make_copy: Callable[[object], object]) -> None:
    model.fit(X, Y)
    twin = make_copy(model)
    assert twin.operation_backends_ == model.operation_backends_
    assert twin.fallback_reasons_ == model.fallback_reasons_
    expected = getattr(model, method_of(model))(X)
    assert set(twin.operation_backends_) == {"fit"}
    other = make_copy(twin)
    np.testing.assert_array_equal(getattr(twin, method_of(model))(X), expected)
    assert set(twin.operation_backends_) == {"fit", method_of(model)}
    assert set(other.operation_backends_) == {"fit"}
    del model
    assert twin.backend_


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_holds_numpy_state_and_both_versions(model: object, backend: str, protocol: int) -> None:
    model.fit(X, Y)
    state = pickle.loads(pickle.dumps(model, protocol=protocol)).__getstate__()
    assert state["_sklearn_version"] == sklearn.__version__
    assert state["_metalml_version"] == ml.__version__
    assert b"Device" not in pickle.dumps(model, protocol=protocol)


@pytest.mark.parametrize("key", ["_sklearn_version", "_metalml_version"])
def test_a_pickle_of_another_version_warns(model: object, key: str) -> None:
    state = {**model.fit(X, Y).__getstate__(), key: "0.0.0"}
    fresh = type(model).__new__(type(model))
    with pytest.warns(UserWarning, match=r"0\.0\.0"):
        fresh.__setstate__(state)
    assert fresh.backend_ == model.backend_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(model))


def test_a_clone_is_unfitted(model: object, backend: str) -> None:
    model.fit(X, Y)
    fresh = clone(model)
    assert type(fresh) is type(model)
    assert vars(fresh).keys() == type(model)().get_params().keys()
    assert not hasattr(fresh, "backend_")


def test_partial_fit_keeps_its_own_line_in_the_record(backend: str) -> None:
    scaler = ml.preprocessing.StandardScaler().partial_fit(X).partial_fit(X)
    assert set(scaler.operation_backends_) == {"partial_fit"}
    assert scaler.backend_ == scaler.operation_backends_["partial_fit"]


def test_representations_and_parameters_are_those_of_scikit_learn(model: object) -> None:
    assert repr(model) == f"{type(model).__name__}()"
    assert type(model).__name__ in model.fit(X, Y)._repr_html_()
    assert type(model)(**model.get_params()).get_params() == model.get_params()
