"""StandardScaler: what it takes, refuses with scikit-learn's words, and leaves to scikit-learn with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse
import sklearn.preprocessing

import data
import metalml as ml
from errors import assert_same_error
from tolerance import assert_close

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X, _ = data.regression(128, 4, dtype=np.float32)
X64 = X.astype(np.float64)
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
    plain, scaler = ml.preprocessing.StandardScaler().fit(values), ml.preprocessing.StandardScaler().fit(given)
    precision = np.float32 if dtype is np.float32 or backend == "gpu" else np.float64
    assert scaler.backend_ == plain.backend_ != "cpu"
    assert_close(scaler.mean_, plain.mean_, precision, len(X))
    assert_close(scaler.var_, plain.var_, precision, len(X))
    assert_close(scaler.transform(given), plain.transform(values), precision, len(X))
    assert_close(scaler.inverse_transform(given), plain.inverse_transform(values), precision, len(X))
    np.testing.assert_array_equal(np.asarray(given, dtype=dtype), values)


@pytest.mark.parametrize(
    "layout", ["C", "fortran", "negative strides", "every second column", "memory-mapped", "read-only"]
)
@pytest.mark.parametrize("method", ["transform", "inverse_transform"])
@pytest.mark.parametrize("by", ["parameter", "argument"])
def test_copy_false_does_what_scikit_learn_does(
    backend: str, layout: str, method: str, by: str, tmp_path: Path
) -> None:
    make = data.LAYOUTS.get(layout, lambda array, _: array.copy())
    arguments = {"copy": False} if by == "argument" else {}
    results = []
    for namespace in (ml, sklearn):
        given = make(X, tmp_path)
        scaler = namespace.preprocessing.StandardScaler(copy=by == "argument").fit(X.copy())
        with ml.config_context(on_fallback="record"):
            result = getattr(scaler, method)(given, **arguments)
        results.append((np.array(result), np.array(given), np.shares_memory(result, given)))
    (ours, our_input, in_place), (theirs, their_input, their_in_place) = results
    assert_close(ours, theirs, np.float32)
    assert_close(our_input, their_input, np.float32)
    assert in_place == their_in_place


FIT_MISTAKES: dict[str, Callable[[object], object]] = {
    "inf": lambda m: m.fit(with_value(X, np.inf)),
    "-inf, float64": lambda m: m.fit(with_value(X64, -np.inf)),
    "inf beside nan": lambda m: m.fit(with_value(with_value(X, np.nan), np.inf)),
    "zero rows": lambda m: m.fit(X[:0]),
    "zero columns": lambda m: m.fit(X[:, :0]),
    "one-dimensional": lambda m: m.fit(X[:, 0]),
    "three-dimensional": lambda m: m.fit(X[:, :, None]),
    "words": lambda m: m.fit(np.full((128, 4), "word")),
    "words in an object array": lambda m: m.fit(np.full((128, 4), "word", dtype=object)),
    "complex": lambda m: m.fit(X.astype(complex)),
    "None": lambda m: m.fit(None),
    "too few weights": lambda m: m.fit(X, sample_weight=np.ones(127)),
    "weights in two columns": lambda m: m.fit(X, sample_weight=np.ones((128, 2))),
    "nan in the weights": lambda m: m.fit(X, sample_weight=with_value(np.ones(128), np.nan)),
    "bad weights beside inf": lambda m: m.fit(with_value(X, np.inf), sample_weight=np.ones(127)),
    "too many arguments": lambda m: m.fit(X, None, None, None),
    "with_mean is a word": lambda m: m.set_params(with_mean="yes").fit(X),
    "sparse and centred": lambda m: m.fit(scipy.sparse.csr_array(X64)),
    "inf, partial_fit": lambda m: m.partial_fit(with_value(X, np.inf)),
}


@pytest.mark.parametrize("mistake", list(FIT_MISTAKES))
def test_fit_fails_as_in_scikit_learn(backend: str, mistake: str) -> None:
    fit, scaler = FIT_MISTAKES[mistake], ml.preprocessing.StandardScaler()
    assert_same_error(lambda: fit(scaler), lambda: fit(sklearn.preprocessing.StandardScaler()))
    assert not hasattr(scaler, "scale_")
    assert not hasattr(scaler, "operation_backends_")


def test_failing_partial_fit_leaves_the_statistics(backend: str) -> None:
    scaler = ml.preprocessing.StandardScaler().partial_fit(X)
    mean, seen = scaler.mean_.copy(), scaler.n_samples_seen_
    for bad in (with_value(X, np.inf), X[:, :3], X[:0]):
        with pytest.raises(ValueError, match=r"infinity|features|0 sample"):
            scaler.partial_fit(bad)
    np.testing.assert_array_equal(scaler.mean_, mean)
    assert scaler.n_samples_seen_ == seen


APPLY_MISTAKES: dict[str, Callable[[object, str], object]] = {
    "other number of columns": lambda m, method: getattr(m, method)(np.ones((128, 3), dtype=np.float32)),
    "zero rows": lambda m, method: getattr(m, method)(X[:0]),
    "inf": lambda m, method: getattr(m, method)(with_value(X, np.inf)),
    "-inf, in place": lambda m, method: getattr(m, method)(with_value(X, -np.inf), copy=False),
    "one-dimensional": lambda m, method: getattr(m, method)(X[0]),
    "too many arguments": lambda m, method: getattr(m, method)(X, None, None),
    "words": lambda m, method: getattr(m, method)(np.full((128, 4), "word")),
    "complex": lambda m, method: getattr(m, method)(X.astype(complex)),
}


@pytest.mark.parametrize("mistake", list(APPLY_MISTAKES))
@pytest.mark.parametrize("method", ["transform", "inverse_transform"])
def test_transform_fails_as_in_scikit_learn(backend: str, mistake: str, method: str) -> None:
    apply, ours, theirs = (
        APPLY_MISTAKES[mistake],
        ml.preprocessing.StandardScaler(),
        sklearn.preprocessing.StandardScaler(),
    )
    assert_same_error(lambda: apply(ours, method), lambda: apply(theirs, method))
    ours.fit(X)
    theirs.fit(X)
    assert_same_error(lambda: apply(ours, method), lambda: apply(theirs, method))


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
def test_refused_data_are_not_changed_in_place(backend: str) -> None:
    scaler = ml.preprocessing.StandardScaler(copy=False).fit(X)
    bad = with_value(X, np.inf)
    with pytest.raises(ValueError, match="infinity"):
        scaler.transform(bad)
    np.testing.assert_array_equal(bad, with_value(X, np.inf))


NOT_CENTRED = {"with_mean": False}
# What is left to scikit-learn: parameters, data, weights, and a word of the reason.
LEFT: dict[str, tuple[dict[str, object], object, object, str]] = {
    "sparse rows": (NOT_CENTRED, scipy.sparse.csr_array(X), None, "sparse"),
    "sparse columns": (NOT_CENTRED, scipy.sparse.csc_matrix(X), None, "sparse"),
    "float16": ({}, X.astype(np.float16), None, "float16"),
    "a weight below 0": ({}, X, with_value(np.ones(128), -0.5), "weights"),
}


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("case", list(LEFT))
def test_what_is_left_to_scikit_learn_and_why(backend: str, case: str) -> None:
    parameters, given, weights, word = LEFT[case]
    theirs = sklearn.preprocessing.StandardScaler(**parameters).fit(given, sample_weight=weights)
    if backend == "gpu":
        scaler = ml.preprocessing.StandardScaler(**parameters)
        with pytest.raises(ml.BackendUnavailableError, match=word):
            scaler.fit(given, sample_weight=weights)
        assert not hasattr(scaler, "scale_")
    with ml.config_context(on_fallback="record"):
        scaler = ml.preprocessing.StandardScaler(**parameters).fit(given, sample_weight=weights)
    assert scaler.operation_backends_ == {"fit": "cpu"}
    assert word in scaler.fallback_reasons_["fit"]
    np.testing.assert_array_equal(scaler.scale_, theirs.scale_)
    if weights is None:
        with ml.config_context(on_fallback="record"):
            result = scaler.transform(given)
        assert word in scaler.fallback_reasons_["transform"]
        assert result.dtype == given.dtype
        assert type(result) is type(theirs.transform(given))


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
def test_frames_of_sparse_columns_are_left_to_scikit_learn(backend: str) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix(np.where(X64 > 0, X64, 0)))
    dense = ml.preprocessing.StandardScaler().fit(X)
    for call in (lambda m: m.fit(frame), lambda m: m.partial_fit(frame)):
        assert_same_error(
            lambda call=call: call(ml.preprocessing.StandardScaler()),
            lambda call=call: call(sklearn.preprocessing.StandardScaler()),
        )
    for method in ("transform", "inverse_transform"):
        with pytest.raises(ValueError, match="sparse matrices: pass `with_mean=False`"):
            getattr(dense, method)(frame)
    scaler, theirs = (space.preprocessing.StandardScaler(with_mean=False) for space in (ml, sklearn))
    if backend == "gpu":
        with pytest.raises(ml.BackendUnavailableError, match="sparse"):
            scaler.fit(frame)
    with ml.config_context(on_fallback="record"):
        found = scaler.fit(frame).transform(frame)
    np.testing.assert_array_equal(found.toarray(), theirs.fit(frame).transform(frame).toarray())
    assert scaler.operation_backends_ == {"fit": "cpu", "transform": "cpu"}
    assert "sparse" in scaler.fallback_reasons_["transform"]


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
def test_fit_calls_the_partial_fit_of_a_subclass(backend: str) -> None:
    class Counting(ml.preprocessing.StandardScaler):
        def partial_fit(self, X: np.ndarray, y: object = None, sample_weight: object = None) -> object:
            self.n_parts_ = getattr(self, "n_parts_", 0) + 1
            return super().partial_fit(X, y, sample_weight)

    with ml.config_context(on_fallback="record"):
        scaler = Counting().fit(X)
    assert scaler.n_parts_ == 1
    assert "partial_fit" in scaler.fallback_reasons_["fit"]
    assert scaler.partial_fit(X).operation_backends_["partial_fit"] != "cpu"


@pytest.mark.parametrize("backend", ["auto", "native"], indirect=True)
@pytest.mark.parametrize("size", [1e-100, 1e-60, 1e38, 1e100, 1e150])
def test_huge_and_tiny_float64_values(backend: str, size: float) -> None:
    small = sklearn.preprocessing.StandardScaler().fit(X64)
    scaler = ml.preprocessing.StandardScaler().fit(X64 * size)
    assert_close(scaler.mean_ / size, small.mean_, np.float64, len(X))
    assert_close(scaler.scale_ / size, small.scale_, np.float64, len(X))
    assert_close(scaler.transform(X64 * size), small.transform(X64), np.float64, len(X))


@pytest.mark.parametrize("backend", ["auto", "native"], indirect=True)
@pytest.mark.parametrize("size", [1e160, 1e250, 1e305])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of scikit-learn's own squares
def test_float64_values_whose_squares_overflow_are_left_with_that_reason(backend: str, size: float) -> None:
    scaler = ml.preprocessing.StandardScaler().fit(X64 * size)
    assert scaler.backend_ == "cpu"
    assert "too large" in scaler.fallback_reasons_["fit"]


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("size", [1e-38, 1e-30, 1e30, 5e37])
def test_huge_and_tiny_float32_values_are_right_or_left_with_a_reason(backend: str, size: float) -> None:
    given = X * np.float32(size)
    expected = sklearn.preprocessing.StandardScaler().fit(given.astype(np.float64))
    with ml.config_context(on_fallback="record"):
        scaler = ml.preprocessing.StandardScaler().fit(given)
    assert scaler.backend_ != "cpu" or scaler.fallback_reasons_["fit"]
    assert_close(scaler.mean_, expected.mean_, np.float32, len(X))
    assert_close(scaler.scale_, expected.scale_, np.float32, len(X))


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
@pytest.mark.parametrize("size", [1e-60, 1e100])
def test_values_outside_float32_are_refused_on_the_gpu(backend: str, size: float) -> None:
    scaler = ml.preprocessing.StandardScaler()
    with pytest.raises(ml.BackendUnavailableError, match="float32"):
        scaler.fit(X64 * size)
    assert not hasattr(scaler, "scale_")
    with ml.config_context(on_fallback="record"):
        scaler.fit(X64 * size)
    assert "float32" in scaler.fallback_reasons_["fit"]
    assert_close(scaler.scale_, np.std(X64 * size, axis=0), np.float64, len(X))
