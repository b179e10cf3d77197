"""Ridge: what it takes, what it refuses with scikit-learn's own words, and what it leaves to scikit-learn and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model

import data
import metalml as ml
from errors import assert_same_error
from tolerance import assert_close

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X, Y = data.regression(128, 4, dtype=np.float32)
X64, Y64 = X.astype(np.float64), Y.astype(np.float64)
ENGINES = ["auto", "native", "gpu"]


def with_value(array: np.ndarray, value: float) -> np.ndarray:
    array = array.copy()
    array[len(array) // 2] = value
    return array


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("layout", list(data.LAYOUTS))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_memory_layout(backend: str, layout: str, dtype: type, tmp_path: Path) -> None:
    values = X.astype(dtype)
    given = data.LAYOUTS[layout](values, tmp_path)
    plain = ml.linear_model.Ridge().fit(values, Y)
    model = ml.linear_model.Ridge().fit(given, Y)
    precision = np.float32 if dtype is np.float32 or backend == "gpu" else np.float64
    assert model.backend_ == plain.backend_ != "cpu"
    assert_close(model.coef_, plain.coef_, precision, len(X))
    assert_close(model.predict(given), plain.predict(values), precision, len(X))
    np.testing.assert_array_equal(np.asarray(given, dtype=dtype), values)


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
def test_targets_and_weights_in_any_layout(backend: str) -> None:
    y = np.asfortranarray(np.stack([Y, Y[::-1]], axis=1))[::-1]
    weights = np.repeat(np.linspace(1, 2, 128), 2)[::2][::-1]
    model = ml.linear_model.Ridge().fit(X, y, sample_weight=weights)
    plain = ml.linear_model.Ridge().fit(X, np.ascontiguousarray(y), sample_weight=np.ascontiguousarray(weights))
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    by_list = ml.linear_model.Ridge().fit(X, y.tolist(), sample_weight=weights.tolist())
    np.testing.assert_array_equal(by_list.coef_, plain.coef_)


FIT_MISTAKES: dict[str, Callable[[object], object]] = {
    "nan in X": lambda m: m.fit(with_value(X, np.nan), Y),
    "inf in X": lambda m: m.fit(with_value(X, np.inf), Y),
    "-inf in X, float64": lambda m: m.fit(with_value(X64, -np.inf), Y),
    "nan in y": lambda m: m.fit(X, with_value(Y, np.nan)),
    "inf in y": lambda m: m.fit(X, with_value(Y, np.inf)),
    "nan in a second target": lambda m: m.fit(X, np.stack([Y, with_value(Y, np.nan)], axis=1)),
    "nan in the weights": lambda m: m.fit(X, Y, sample_weight=with_value(np.ones(128), np.nan)),
    "a negative weight": lambda m: m.fit(X, Y, sample_weight=with_value(np.ones(128), -1)),
    "too few weights": lambda m: m.fit(X, Y, sample_weight=np.ones(127)),
    "weights in two columns": lambda m: m.fit(X, Y, sample_weight=np.ones((128, 2))),
    "too few targets": lambda m: m.fit(X, Y[:-1]),
    "no targets": lambda m: m.fit(X, None),
    "three-dimensional targets": lambda m: m.fit(X, np.ones((128, 2, 2))),
    "one-dimensional X": lambda m: m.fit(X[:, 0], Y),
    "three-dimensional X": lambda m: m.fit(X[:, :, None], Y),
    "zero rows": lambda m: m.fit(X[:0], Y[:0]),
    "zero columns": lambda m: m.fit(X[:, :0], Y),
    "words in X": lambda m: m.fit(np.full((128, 4), "word"), Y),
    "words in an object array": lambda m: m.fit(np.full((128, 4), "word", dtype=object), Y),
    "words in y": lambda m: m.fit(X, np.full(128, "word")),
    "complex X": lambda m: m.fit(X.astype(complex), Y),
    "complex y": lambda m: m.fit(X, Y.astype(complex)),
    "ragged lists": lambda m: m.fit([[1.0], [1.0, 2.0]] * 64, Y),
    "None": lambda m: m.fit(None, Y),
    "negative alpha": lambda m: m.set_params(alpha=-1.0).fit(X, Y),
    "alpha is a word": lambda m: m.set_params(alpha="large").fit(X, Y),
    "too many penalties": lambda m: m.set_params(alpha=np.ones(3)).fit(X, Y),
    "a list of penalties": lambda m: m.set_params(alpha=[-1.0, "x"]).fit(X, Y),
    "unknown solver": lambda m: m.set_params(solver="best").fit(X, Y),
    "positive with cholesky": lambda m: m.set_params(positive=True, solver="cholesky").fit(X, Y),
    "lbfgs without positive": lambda m: m.set_params(solver="lbfgs").fit(X, Y),
    "cholesky on sparse data": lambda m: m.set_params(solver="cholesky").fit(scipy.sparse.csr_array(X64), Y64),
    "sparse y": lambda m: m.fit(X, scipy.sparse.csr_array(Y64.reshape(-1, 1))),
}


@pytest.mark.parametrize("mistake", list(FIT_MISTAKES))
@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt:RuntimeWarning")  # of a negative weight
def test_fit_fails_as_in_scikit_learn(backend: str, mistake: str) -> None:
    model = ml.linear_model.Ridge()
    fit = FIT_MISTAKES[mistake]
    assert_same_error(lambda: fit(model), lambda: fit(sklearn.linear_model.Ridge()))
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "operation_backends_")


PREDICT_MISTAKES: dict[str, Callable[[object], object]] = {
    "other number of columns": lambda m: m.predict(np.ones((128, 3), dtype=np.float32)),
    "zero rows": lambda m: m.predict(X[:0]),
    "nan": lambda m: m.predict(with_value(X, np.nan)),
    "inf": lambda m: m.predict(with_value(X64, np.inf)),
    "one-dimensional": lambda m: m.predict(X[0]),
    "words": lambda m: m.predict(np.full((128, 4), "word")),
    "complex": lambda m: m.predict(X.astype(complex)),
}


@pytest.mark.parametrize("mistake", list(PREDICT_MISTAKES))
def test_predict_fails_as_in_scikit_learn(backend: str, mistake: str) -> None:
    ours, theirs = ml.linear_model.Ridge().fit(X, Y), sklearn.linear_model.Ridge().fit(X, Y)
    predict = PREDICT_MISTAKES[mistake]
    assert_same_error(lambda: predict(ours), lambda: predict(theirs))
    assert_same_error(lambda: predict(ml.linear_model.Ridge()), lambda: predict(sklearn.linear_model.Ridge()))


# What is left to scikit-learn: parameters, how to fit, and a word of the reason.
LEFT: dict[str, tuple[dict[str, object], Callable[[object], object], str]] = {
    "alpha 0": ({"alpha": 0}, lambda m: m.fit(X, Y), "alpha=0"),
    "an alpha of 0": ({"alpha": np.array([0.0, 1.0])}, lambda m: m.fit(X, np.stack([Y, Y], 1)), "alpha"),
    "positive": ({"positive": True}, lambda m: m.fit(X, Y), "positive"),
    **{
        solver: ({"solver": solver, "random_state": 0}, lambda m: m.fit(X, Y), solver)
        for solver in ("svd", "lsqr", "sparse_cg", "sag", "saga")
    },
    "sparse": ({}, lambda m: m.fit(scipy.sparse.csr_array(X), Y), "sparse"),
    "a sparse matrix": ({"fit_intercept": False}, lambda m: m.fit(scipy.sparse.csc_matrix(X), Y), "sparse"),
}


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("case", list(LEFT))
def test_what_is_left_to_scikit_learn_and_why(backend: str, case: str) -> None:
    parameters, fit, word = LEFT[case]
    theirs = fit(sklearn.linear_model.Ridge(**parameters))
    if backend == "gpu":
        model = ml.linear_model.Ridge(**parameters)
        with pytest.raises(ml.BackendUnavailableError, match=word):
            fit(model)
        assert not hasattr(model, "coef_")
    with ml.config_context(on_fallback="record"):
        model = fit(ml.linear_model.Ridge(**parameters))
    assert model.operation_backends_ == {"fit": "cpu"}
    assert word in model.fallback_reasons_["fit"]
    np.testing.assert_array_equal(model.coef_, theirs.coef_)
    np.testing.assert_array_equal(model.intercept_, theirs.intercept_)


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_ill_conditioned_data_fall_back_with_the_condition_as_reason(backend: str) -> None:
    twice = np.hstack([X, X])
    if backend == "gpu":
        with pytest.raises(ml.BackendUnavailableError, match="condition"):
            ml.linear_model.Ridge(alpha=1e-12).fit(twice, Y)
    with ml.config_context(on_fallback="record"):
        model = ml.linear_model.Ridge(alpha=1e-20).fit(twice.astype(np.float64), Y64)
    assert model.backend_ == "cpu"
    assert "condition" in model.fallback_reasons_["fit"]
    theirs = sklearn.linear_model.Ridge(alpha=1e-20).fit(twice.astype(np.float64), Y64)
    np.testing.assert_array_equal(model.coef_, theirs.coef_)


@pytest.mark.parametrize("backend", ["auto", "native"], indirect=True)
@pytest.mark.parametrize("size", [1e-60, 1e-30, 1e30, 1e100])
def test_huge_and_tiny_float64_values(backend: str, size: float) -> None:
    model = ml.linear_model.Ridge(alpha=size * size).fit(X64 * size, Y64)
    expected = sklearn.linear_model.Ridge(solver="svd").fit(X64, Y64)
    assert_close(model.coef_ * size, expected.coef_, np.float64, len(X))
    assert_close(model.predict(X64 * size), expected.predict(X64), np.float64, len(X))


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
@pytest.mark.parametrize("size", [1e-60, 1e100])
def test_values_outside_float32_are_refused_on_the_gpu(backend: str, size: float) -> None:
    with pytest.raises(ml.BackendUnavailableError, match="float32"):
        ml.linear_model.Ridge(alpha=size * size).fit(X64 * size, Y64)
    with ml.config_context(on_fallback="record"):
        model = ml.linear_model.Ridge(alpha=size * size).fit(X64 * size, Y64)
    assert model.backend_ != "vulkan+native"
    assert "float32" in model.fallback_reasons_["fit"]
    expected = sklearn.linear_model.Ridge(solver="svd").fit(X64, Y64)
    assert_close(model.coef_ * size, expected.coef_, np.float64, len(X))


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("size", [1e-30, 1e30, 3e37])
def test_huge_and_tiny_float32_values_are_right_or_left_with_a_reason(backend: str, size: float) -> None:
    huge = X * np.float32(size)
    expected = sklearn.linear_model.Ridge(solver="svd").fit(X64, Y64)
    with ml.config_context(on_fallback="record"):
        model = ml.linear_model.Ridge(alpha=size * size).fit(huge, Y)
    if model.backend_ == "cpu":
        assert model.fallback_reasons_["fit"]
    else:
        assert_close(model.coef_.astype(np.float64) * size, expected.coef_, np.float32, len(X))
