"""StandardScaler: are the answers right? The judge is exact arithmetic for small data, else scikit-learn in float64."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import sklearn.preprocessing

import data
import metalml as ml
import reference
from tolerance import NATIVE_FLOAT64, allowed, assert_as_right_as, assert_close, relative_error

ENGINES = ["native", "gpu"]
WEIGHTS = np.random.default_rng(5).uniform(0.5, 2, size=200).astype(np.float32)
PLACES = [(offset, scale) for offset in data.OFFSETS for scale in data.SCALES]


def exact_transform(X: np.ndarray) -> np.ndarray:
    """Return what `transform` should give, from the exact statistics, rounded to float64 only."""
    mean, variance = reference.moments(X)
    return (X.astype(np.longdouble) - mean) / np.sqrt(np.where(variance == 0, 1, variance))


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize(("offset", "scale"), PLACES)
@pytest.mark.parametrize("missing", [False, True])
def test_float32_is_as_right_as_scikit_learn(backend: str, offset: float, scale: float, missing: bool) -> None:
    X, _ = data.regression(dtype=np.float32, offset=offset, scale=scale)
    if missing:
        X[::7, 1] = X[3:90, 2] = np.nan
    mean, variance = reference.moments(X)
    theirs, ours = sklearn.preprocessing.StandardScaler().fit(X), ml.preprocessing.StandardScaler().fit(X)
    assert ours.backend_ != "cpu"
    assert_as_right_as(theirs.mean_, ours.mean_, mean, "mean_")
    assert_as_right_as(theirs.var_, ours.var_, variance, "var_")
    assert_as_right_as(theirs.scale_, ours.scale_, np.sqrt(variance), "scale_")
    exact = exact_transform(X)
    assert_as_right_as(theirs.transform(X), ours.transform(X), exact, "transform")
    Z = exact.astype(np.float32)
    back = Z.astype(np.float64) * np.sqrt(variance) + mean
    assert_as_right_as(theirs.inverse_transform(Z), ours.inverse_transform(Z), back, "inverse_transform")


@pytest.mark.parametrize("backend", ["native"], indirect=True)
@pytest.mark.parametrize(("offset", "scale"), PLACES)
@pytest.mark.parametrize("sample_weight", [None, WEIGHTS], ids=["equal", "weights"])
def test_float64_is_exact(backend: str, offset: float, scale: float, sample_weight: np.ndarray | None) -> None:
    X, _ = data.regression(offset=offset, scale=scale)
    X[5, 2] = np.nan
    mean, variance = reference.moments(X, sample_weight)
    ours = ml.preprocessing.StandardScaler().fit(X, sample_weight=sample_weight)
    assert ours.backend_ == "native"
    assert relative_error(ours.mean_, mean) <= NATIVE_FLOAT64
    assert relative_error(ours.var_, variance) <= NATIVE_FLOAT64
    assert relative_error(ours.scale_, np.sqrt(variance)) <= NATIVE_FLOAT64
    stored = (X.astype(np.longdouble) - ours.mean_) / ours.scale_
    assert relative_error(ours.transform(X), stored) <= NATIVE_FLOAT64


# One below, at and above the tiles that kernels like to have.
SHAPES = [(1, 1), (1, 7), (2, 3), (31, 33), (64, 64), (65, 1), (127, 129), (256, 5), (257, 31), (1025, 3), (4099, 17)]


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("parameters", [{}, {"with_mean": False}, {"with_std": False}], ids=repr)
def test_every_shape(backend: str, dtype: npt.DTypeLike, shape: tuple[int, int], parameters: dict[str, bool]) -> None:
    X = data.regression(*shape, dtype=np.float32, offset=1.0)[0].astype(dtype)
    theirs = sklearn.preprocessing.StandardScaler(**parameters).fit(X.astype(np.float64))
    ours = ml.preprocessing.StandardScaler(**parameters).fit(X)
    precision = np.float32 if backend == "gpu" else dtype
    for name in ("mean_", "var_", "scale_"):
        expected, found = getattr(theirs, name), getattr(ours, name)
        assert (found is None) == (expected is None), name
        if expected is not None:
            assert_close(found, expected, precision, shape[0])
    assert ours.n_samples_seen_ == shape[0]
    Z = ours.transform(X)
    assert_close(Z, theirs.transform(X.astype(np.float64)), precision, shape[0])
    assert_close(ours.inverse_transform(Z), X, precision)


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize(
    "sample_weight", [None, WEIGHTS, np.arange(200) % 3, np.float32(2.0)], ids=["no", "w", "0s", "1"]
)
def test_parts_equal_the_whole(backend: str, sample_weight: npt.ArrayLike) -> None:
    X, _ = data.regression(dtype=np.float32, offset=100.0)
    X[40:60, 0] = X[:50, 3] = np.nan  # a first part without any value in a column
    weights = None if sample_weight is None else np.broadcast_to(sample_weight, len(X))
    whole = ml.preprocessing.StandardScaler().fit(X, sample_weight=weights)
    parts = ml.preprocessing.StandardScaler()
    for rows in (slice(0, 50), slice(50, 51), slice(51, 200)):
        parts.partial_fit(X[rows], sample_weight=None if weights is None else weights[rows])
    assert_close(parts.mean_, whole.mean_, np.float32)
    assert_close(parts.var_, whole.var_, np.float32, len(X))
    assert_close(parts.n_samples_seen_, whole.n_samples_seen_, np.float64, len(X))
    theirs = sklearn.preprocessing.StandardScaler().fit(X.astype(np.float64), sample_weight=weights)
    assert_close(whole.mean_, theirs.mean_, np.float32)
    assert_close(whole.var_, theirs.var_, np.float32, len(X))
    assert_close(whole.n_samples_seen_, theirs.n_samples_seen_, np.float64, len(X))


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_and_constant_columns(backend: str, dtype: npt.DTypeLike) -> None:
    X, _ = data.regression(150, 6, dtype=dtype)
    X[:, 0] = np.nan
    X[:, 1] = 14.62
    X[:, 2] = 0
    X[1:, 3] = np.nan  # one value only
    X[:, 4] = np.where(np.arange(150) % 2, np.nan, 3e5)
    ours = ml.preprocessing.StandardScaler().fit(X)
    with np.errstate(invalid="ignore"):  # scikit-learn warns of the column without a value
        theirs = sklearn.preprocessing.StandardScaler().fit(X)
    np.testing.assert_array_equal(ours.n_samples_seen_, theirs.n_samples_seen_)
    np.testing.assert_array_equal(ours.scale_[:5], [np.nan, 1, 1, 1, 1])
    np.testing.assert_array_equal(theirs.scale_[:5], [np.nan, 1, 1, 1, 1])
    np.testing.assert_array_equal(ours.var_[1:5], 0)
    precision = np.float32 if backend == "gpu" else dtype
    assert_close(ours.mean_, theirs.mean_, precision, 150)
    Z = ours.transform(X)
    np.testing.assert_array_equal(np.isnan(Z), np.isnan(X))
    assert np.nanmax(np.abs(Z[:, 1:5])) <= 3e5 * allowed(precision)


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
def test_two_runs_give_equal_bits(backend: str) -> None:
    X, _ = data.regression(5000, 33, dtype=np.float32, offset=10.0)
    first, second = (ml.preprocessing.StandardScaler().fit(X) for _ in range(2))
    assert first.mean_.tobytes() == second.mean_.tobytes()
    assert first.var_.tobytes() == second.var_.tobytes()
    assert first.transform(X).tobytes() == second.transform(X).tobytes()


@pytest.mark.parametrize("backend", ["auto", *ENGINES], indirect=True)
def test_transform_follows_a_model_that_was_edited(backend: str) -> None:
    X, _ = data.regression(200, 3, dtype=np.float32)
    scaler = ml.preprocessing.StandardScaler().fit(X)
    scaler.transform(X)
    for value in (4.0, 0.5):
        scaler.mean_[0] = value
        scaler.scale_[:] = value
        assert_close(scaler.transform(X), (X.astype(float) - scaler.mean_) / value, np.float32)
        assert_close(scaler.inverse_transform(X), X.astype(float) * value + scaler.mean_, np.float32)
