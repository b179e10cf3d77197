"""Ridge: are the answers right? The judge is exact arithmetic for small data, else scikit-learn in float64."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import sklearn.linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

import data
import metalml as ml
import reference
from tolerance import NATIVE_FLOAT64, allowed, assert_as_right_as, assert_close, relative_error

ENGINES = ["native", "gpu"]
WEIGHTS = np.random.default_rng(5).uniform(0.5, 2, size=200)


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("scale", data.SCALES)
# Without an intercept, columns with an offset are nearly parallel: ill-conditioned data have a test of their own.
@pytest.mark.parametrize(("offset", "fit_intercept"), [*((offset, True) for offset in data.OFFSETS), (0.0, False)])
def test_float32_is_as_right_as_scikit_learn(backend: str, offset: float, scale: float, fit_intercept: bool) -> None:
    X, y = data.regression(dtype=np.float32, offset=offset, scale=scale)
    alpha = scale**2
    exact = reference.ridge(X, y, alpha, fit_intercept=fit_intercept)
    theirs = sklearn.linear_model.Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
    ours = ml.linear_model.Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
    assert ours.backend_ != "cpu"
    coef, intercept = exact.rounded()
    assert_as_right_as(theirs.coef_, ours.coef_, coef[0], "coef_")
    if fit_intercept:
        assert_as_right_as(theirs.intercept_, ours.intercept_, intercept[0], "intercept_")
    stored = reference.linear(ours.coef_, ours.intercept_).predict(X[:50])[:, 0]
    stored_theirs = reference.linear(theirs.coef_, theirs.intercept_).predict(X[:50])[:, 0]
    own_rounding = relative_error(theirs.predict(X[:50]), stored_theirs)
    found = relative_error(ours.predict(X[:50]), stored)
    assert found <= max(own_rounding, allowed(np.float32)), (
        f"predict rounds by {found:.2e}, scikit-learn {own_rounding:.2e}"
    )


def noise(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return data whose coefficients are all rounding's prey: nothing explains the target."""
    rng = np.random.default_rng(n_columns)
    return rng.normal(size=(n_rows, n_columns)), rng.normal(size=n_rows)


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize(
    ("X", "y"),
    [
        pytest.param(*load_diabetes(return_X_y=True, scaled=False), id="diabetes"),
        pytest.param(*load_breast_cancer(return_X_y=True), id="breast cancer"),
        pytest.param(*load_wine(return_X_y=True), id="wine"),
        pytest.param(*load_digits(return_X_y=True), id="digits"),
        pytest.param(*noise(2000, 100), id="noise, one panel"),
        pytest.param(*noise(1500, 300), id="noise, tiles"),
    ],
)
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")  # of scikit-learn's own solve in float32
def test_float32_is_as_right_as_scikit_learn_on_real_data_and_noise(backend: str, X: np.ndarray, y: np.ndarray) -> None:
    X, y = X.astype(np.float32), y.astype(np.float32)
    exact = sklearn.linear_model.Ridge(solver="svd").fit(X.astype(np.float64), y.astype(np.float64))
    theirs, ours = sklearn.linear_model.Ridge().fit(X, y), ml.linear_model.Ridge().fit(X, y)
    assert ours.backend_ != "cpu"
    assert_as_right_as(theirs.coef_, ours.coef_, exact.coef_, "coef_")


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("offset", data.OFFSETS)
@pytest.mark.parametrize("scale", data.SCALES)
def test_float32_predictions_are_as_right_as_scikit_learn(backend: str, offset: float, scale: float) -> None:
    X, y = data.regression(dtype=np.float32, offset=offset, scale=scale, seed=1)
    exact = reference.ridge(X, y, scale**2).predict(X)[:, 0]
    theirs = sklearn.linear_model.Ridge(alpha=scale**2).fit(X, y).predict(X)
    ours = ml.linear_model.Ridge(alpha=scale**2).fit(X, y).predict(X)
    assert_as_right_as(theirs, ours, exact, "predictions")


@pytest.mark.parametrize("backend", ["native"], indirect=True)
@pytest.mark.parametrize("offset", data.OFFSETS)
@pytest.mark.parametrize("scale", data.SCALES)
@pytest.mark.parametrize("sample_weight", [None, WEIGHTS], ids=["equal", "weights"])
def test_float64_is_exact_to_the_condition(
    backend: str, offset: float, scale: float, sample_weight: np.ndarray | None
) -> None:
    X, y = data.regression(offset=offset, scale=scale)
    alpha = scale**2
    coef, intercept = reference.ridge(X, y, alpha, sample_weight=sample_weight).rounded()
    ours = ml.linear_model.Ridge(alpha=alpha).fit(X, y, sample_weight=sample_weight)
    assert ours.backend_ == "native"
    limit = NATIVE_FLOAT64 * reference.condition(X, alpha)
    # The intercept is the difference of terms as large as the offset: that is its condition.
    terms = np.abs(X).mean(axis=0) @ np.abs(coef[0])
    assert relative_error(ours.coef_, coef[0]) <= limit
    assert abs(ours.intercept_ - intercept[0]) <= limit * (terms + abs(intercept[0]))


@pytest.mark.parametrize("backend", ["auto", *ENGINES], indirect=True)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("parameters", "n_targets", "sample_weight"),
    [
        pytest.param({}, None, None, id="plain"),
        pytest.param({}, 3, None, id="three targets"),
        pytest.param({}, 1, None, id="one column of targets"),
        pytest.param({"alpha": np.array([0.5, 5.0, 50.0])}, 3, None, id="an alpha for each"),
        pytest.param({"alpha": np.array([2.0])}, 3, None, id="one alpha in an array"),
        pytest.param({"alpha": 3}, None, None, id="whole alpha"),
        pytest.param({"fit_intercept": False}, 3, None, id="no intercept"),
        pytest.param({"solver": "cholesky"}, None, None, id="cholesky"),
        pytest.param({"alpha": np.array([0.5, 5.0, 50.0])}, 3, WEIGHTS, id="alphas and weights"),
        pytest.param({"fit_intercept": False}, None, WEIGHTS, id="weights without intercept"),
        pytest.param({}, None, np.where(np.arange(200) % 3 == 0, 0.0, WEIGHTS), id="some weights 0"),
        pytest.param({}, None, np.arange(200) % 4, id="whole weights"),
        pytest.param({}, 3, 2.5, id="one number for all weights"),
    ],
)
def test_every_way_of_fitting(
    backend: str,
    dtype: npt.DTypeLike,
    parameters: dict[str, object],
    n_targets: int | None,
    sample_weight: npt.ArrayLike,
) -> None:
    X, y = data.regression(n_targets=n_targets, dtype=dtype, offset=2.0)
    ours = ml.linear_model.Ridge(**parameters).fit(X, y, sample_weight=sample_weight)
    theirs = sklearn.linear_model.Ridge(**parameters).fit(X, y, sample_weight=sample_weight)
    assert ours.backend_ != "cpu"
    weights = None if sample_weight is None else np.broadcast_to(sample_weight, 200).astype(dtype)
    exact = reference.ridge(
        X, y, parameters.get("alpha", 1.0), sample_weight=weights, fit_intercept=parameters.get("fit_intercept", True)
    )
    coef, intercept = exact.rounded()
    precision = np.float32 if backend == "gpu" else dtype
    assert np.shape(ours.coef_) == np.shape(theirs.coef_)
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert ours.predict(X).shape == theirs.predict(X).shape
    assert_close(ours.coef_, coef.reshape(np.shape(ours.coef_)), precision, len(X))
    assert_close(np.ravel(ours.intercept_) + np.zeros(len(intercept)), intercept, precision, len(X))
    assert_close(ours.predict(X), exact.predict(X).reshape(np.shape(theirs.predict(X))), precision, len(X))


# One below, at and above the tiles that kernels like to have; wide data take the dual form.
SHAPES = [(1, 1), (1, 5), (2, 1), (3, 2), (31, 7), (64, 64), (65, 33), (129, 127), (257, 128), (200, 129), (1025, 17)]
WIDE = [(1, 40), (2, 300), (17, 129), (63, 64), (64, 257)]


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES + WIDE)
@pytest.mark.parametrize("n_targets", [None, 5])
def test_every_shape(backend: str, dtype: npt.DTypeLike, shape: tuple[int, int], n_targets: int | None) -> None:
    X, y = data.regression(*shape, n_targets, dtype=dtype, offset=1.0)
    alpha = float(shape[0])
    expected = sklearn.linear_model.Ridge(alpha=alpha, solver="svd").fit(X.astype(np.float64), y.astype(np.float64))
    found = ml.linear_model.Ridge(alpha=alpha).fit(X, y)
    precision = np.float32 if backend == "gpu" else dtype
    n_terms = sum(shape)
    if shape[0] == 1:
        # One row less its own mean is 0: so are the coefficients, to the rounding of the mean.
        assert np.all(np.abs(found.coef_) <= allowed(precision))
    else:
        assert_close(found.coef_, expected.coef_, precision, n_terms)
    assert_close(found.predict(X), expected.predict(X), precision, n_terms)


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
def test_two_runs_give_equal_bits(backend: str) -> None:
    X, y = data.regression(3000, 33, 2, dtype=np.float32, offset=10.0)
    first, second = (ml.linear_model.Ridge().fit(X, y) for _ in range(2))
    assert first.coef_.tobytes() == second.coef_.tobytes()
    assert first.intercept_.tobytes() == second.intercept_.tobytes()
    assert first.predict(X).tobytes() == second.predict(X).tobytes()


@pytest.mark.parametrize("backend", ["auto", *ENGINES], indirect=True)
def test_predict_follows_a_model_that_was_edited(backend: str) -> None:
    X, y = data.regression(200, 4, dtype=np.float32)
    model = ml.linear_model.Ridge().fit(X, y)
    model.predict(X)
    for value in (7.0, -3.0):
        model.coef_[0] = value
        model.intercept_ = np.float32(value)
        assert_close(model.predict(X), X.astype(float) @ model.coef_.astype(float) + value, np.float32, 4)
    model.coef_ = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])
    model.intercept_ = 0.0
    assert_close(model.predict(X), X[:, :2], np.float32)
