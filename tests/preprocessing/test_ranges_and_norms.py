"""MinMaxScaler, MaxAbsScaler and Normalizer: against float64, at any size of values; NaN, parts, in place, errors."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.preprocessing as theirs

import metalml as ml

ours = ml.preprocessing
EPS = np.finfo(np.float32).eps
SCALERS = [
    ("MinMaxScaler", {}),
    ("MinMaxScaler", {"feature_range": (-3, 5)}),
    ("MinMaxScaler", {"clip": True}),
    ("MaxAbsScaler", {}),
]


def rows(n_rows: int = 300, n_cols: int = 5, *, scale: float = 1.0, offset: float = 0.0) -> np.ndarray:
    X = np.random.default_rng(2).normal(size=(n_rows, n_cols))
    return ((X + offset) * scale).astype(np.float32)


@pytest.mark.parametrize(("name", "parameters"), SCALERS)
@pytest.mark.parametrize(("scale", "offset"), [(1, 0), (1, 1e5), (1e-30, 0), (1e25, 0), (1e-6, 10)])
def test_as_near_to_float64_as_scikit_learn(
    backend: str, name: str, parameters: dict[str, object], scale: float, offset: float
) -> None:
    X = rows(scale=scale, offset=offset)
    X[:, 2] = X[0, 2]  # a constant column
    exact = getattr(theirs, name)(**parameters).fit(X.astype(float))
    found = getattr(ours, name)(**parameters).fit(X)
    plain = getattr(theirs, name)(**parameters).fit(X)
    np.testing.assert_allclose(found.scale_, exact.scale_, rtol=2 * EPS)
    for method, given in (("transform", X), ("inverse_transform", exact.transform(X.astype(float)).astype(np.float32))):
        if method == "inverse_transform" and parameters.get("clip"):
            continue
        right = getattr(exact, method)(given.astype(float))
        result, other = getattr(found, method)(given), getattr(plain, method)(given)
        assert result.dtype == np.float32
        error, allowed = np.abs(result - right).max(axis=0), np.abs(other - right).max(axis=0)
        size = np.abs(right).max(axis=0) * EPS * 4
        assert np.all(error <= np.maximum(allowed * 1.5, size))


@pytest.mark.parametrize(("name", "parameters"), SCALERS)
def test_missing_values_and_parts(backend: str, name: str, parameters: dict[str, object]) -> None:
    X = rows()
    X[::7, 1] = np.nan
    with ml.config_context(on_fallback="record"):
        whole = getattr(ours, name)(**parameters).fit(X)
        parts = getattr(ours, name)(**parameters)
        for start in range(0, len(X), 100):
            parts.partial_fit(X[start : start + 100])
    expected = getattr(theirs, name)(**parameters).fit(X)
    np.testing.assert_array_equal(whole.scale_, expected.scale_)
    np.testing.assert_array_equal(parts.scale_, expected.scale_)
    assert parts.n_samples_seen_ == len(X)
    found = whole.transform(X)
    assert np.array_equal(np.isnan(found), np.isnan(X))
    np.testing.assert_allclose(found, expected.transform(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["MinMaxScaler", "MaxAbsScaler"])
def test_a_column_of_nan_is_left_to_scikit_learn(name: str) -> None:
    X = rows()
    X[:, 1] = np.nan
    with ml.config_context(backend="native"), np.errstate(all="ignore"):
        with pytest.warns(RuntimeWarning, match="NaN"):
            found = getattr(ours, name)().fit(X)
        with pytest.warns(RuntimeWarning, match="NaN"):
            expected = getattr(theirs, name)().fit(X)
    np.testing.assert_array_equal(found.scale_, expected.scale_)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the sums of huge values that scikit-learn makes
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("scale", [1, 1e-30, 1e25, 1e-38, 3e38])
def test_norms_at_any_size(backend: str, norm: str, scale: float) -> None:
    X = np.random.default_rng(4).uniform(-1, 1, size=(300, 7)).astype(np.float32) * np.float32(scale)
    X[5] = 0
    with ml.config_context(on_fallback="record"):
        found = ours.Normalizer(norm=norm).fit(X).transform(X)
    if backend == "cpu" or (backend == "gpu" and scale < 1e-37):
        return  # scikit-learn's float32 overflows and vanishes; GPUs may take denormal numbers for 0
    # Not scikit-learn's: it takes norms near 0 for 0, whatever the size of the values.
    order = {"l1": 1, "l2": 2, "max": np.inf}[norm]
    norms = np.linalg.norm(X.astype(float), ord=order, axis=1, keepdims=True)
    right = X / np.where(norms == 0, 1, norms)
    np.testing.assert_allclose(found, right, rtol=4 * EPS, atol=EPS / 4)
    assert np.all(found[5] == 0)


@pytest.mark.parametrize("name", ["MinMaxScaler", "MaxAbsScaler", "Normalizer"])
def test_in_place(backend: str, name: str) -> None:
    X = rows()
    kept = X.copy()
    model = getattr(ours, name)().fit(X)
    expected = model.transform(X)
    np.testing.assert_array_equal(X, kept)
    in_place = getattr(ours, name)(copy=False).fit(X)
    out = in_place.transform(X)
    assert out is X or np.shares_memory(out, X)
    np.testing.assert_allclose(X, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["MinMaxScaler", "MaxAbsScaler", "Normalizer"])
def test_infinite_values_are_an_error(backend: str, name: str) -> None:
    X = rows()
    model = getattr(ours, name)().fit(X)
    X[8, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.transform(X)
    with pytest.raises(ValueError, match="infinity"):
        getattr(ours, name)().fit(X)


def test_an_empty_range_is_an_error(backend: str) -> None:
    with pytest.raises(ValueError, match="feature range"):
        ours.MinMaxScaler(feature_range=(1, 1)).fit(rows())
