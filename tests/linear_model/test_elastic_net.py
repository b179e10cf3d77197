"""Lasso and ElasticNet: the minimum on good and bad scales, parameters, what is left to scikit-learn, errors."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as theirs
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning

import metalml as ml
from data import regression
from tolerance import assert_as_right_as, relative_error

ours = ml.linear_model
ENGINES = ["native", "gpu"]
NAMES = ["Lasso", "ElasticNet"]
# So that what is compared is the minimum, and not where each stopped.
CLOSE = {"tol": 1e-10, "max_iter": 100_000}


def fitted(name: str, X: np.ndarray, y: np.ndarray, **parameters: object) -> tuple[object, object, object]:
    """Fit ours, theirs, and theirs in float64."""
    found = getattr(ours, name)(**parameters).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # float32 sums cannot always see so small a gap
        plain = getattr(theirs, name)(**parameters).fit(X, y)
    return found, plain, getattr(theirs, name)(**parameters).fit(X.astype(np.float64), y.astype(np.float64))


@pytest.mark.parametrize("backend", ENGINES, indirect=True)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("offset", "scale"), [(0, 1), (1e3, 1), (1e5, 1), (1, 1e-6), (10, 1e6)])
def test_float32_is_as_right_as_scikit_learn(backend: str, name: str, offset: float, scale: float) -> None:
    X, y = regression(400, 6, dtype=np.float32, offset=offset, scale=scale)
    # The penalty is that of coefficients, which are large where columns are small; that of their squares more so.
    mixed = {"l1_ratio": 0.7 if scale == 1 else 1 - 1e-9} if name == "ElasticNet" else {}
    found, plain, exact = fitted(name, X, y, alpha=0.05 * scale, **mixed, **CLOSE)
    assert found.backend_ != "cpu"
    assert_as_right_as(plain.coef_, found.coef_, exact.coef_, "coef_", ulps=8)
    prediction = X.astype(np.float64) @ found.coef_.astype(np.float64) + float(found.intercept_)
    expected = exact.predict(X.astype(np.float64))
    assert np.abs(prediction - expected).max() <= 1e-4 * np.abs(expected).max() + 1e-6 * offset


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("load", [load_diabetes, load_breast_cancer])
@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-3])
def test_native_float64_finds_the_minimum(name: str, load: object, alpha: float) -> None:
    X, y = load(return_X_y=True)
    with ml.config_context(backend="native"):
        found = getattr(ours, name)(alpha=alpha, **CLOSE).fit(X, y)
    exact = getattr(theirs, name)(alpha=alpha, **CLOSE).fit(X, y)
    assert found.backend_ == "native"
    assert _objective(found, X, y) <= _objective(exact, X, y) * (1 + 1e-9)
    assert relative_error(found.coef_, exact.coef_) < 1e-3


def _objective(model: object, X: np.ndarray, y: np.ndarray) -> float:
    l1 = model.alpha * model.l1_ratio
    l2 = model.alpha - l1
    loss = np.mean((y - model.predict(X)) ** 2) / 2
    return loss + l1 * np.abs(model.coef_).sum() + l2 / 2 * (model.coef_**2).sum()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "parameters",
    [
        {"fit_intercept": False},
        {"positive": True},
        {"selection": "random", "random_state": 3},
        {"precompute": True},
        {"copy_X": False},
        {"max_iter": 500, "tol": 1e-5},
        {"alpha": 0.3},
    ],
)
def test_parameters(backend: str, name: str, parameters: dict[str, object]) -> None:
    X, y = regression(300, 5, dtype=np.float32, offset=2.0)
    before = X.copy()
    found = getattr(ours, name)(**{"alpha": 0.1, **parameters}).fit(X, y)
    expected = getattr(theirs, name)(**{"alpha": 0.1, **parameters}).fit(before.astype(np.float64), y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=0.02)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=0.1)
    assert type(found.n_iter_) is int
    assert found.dual_gap_ <= found.tol * np.sum(y**2) / len(y)


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("weights", [None, 2.0, np.random.default_rng(1).uniform(0.5, 2, 300)])
def test_targets_and_weights(backend: str, n_targets: int, weights: np.ndarray | float | None) -> None:
    X, y = regression(300, 5, n_targets, dtype=np.float32, offset=2.0)
    found, expected = (space.ElasticNet(alpha=0.05, tol=1e-5).fit(X, y, weights) for space in (ours, theirs))
    for attribute in ("coef_", "intercept_", "dual_gap_", "n_iter_"):
        assert np.shape(getattr(found, attribute)) == np.shape(getattr(expected, attribute)), attribute
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-2)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=5e-2)
    assert found.predict(X).shape == expected.predict(X).shape
    assert found.sparse_coef_.shape == expected.sparse_coef_.shape


def test_it_goes_on_where_it_was(backend: str) -> None:
    X, y = regression(300, 8, dtype=np.float32)
    model = ours.Lasso(alpha=0.01, warm_start=True, tol=1e-5).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first
    with pytest.raises(ValueError, match="shape"):
        model.fit(X[:, :4], y)


def test_draws_of_coordinates_are_those_of_the_seed(backend: str) -> None:
    X, y = regression(300, 12, dtype=np.float32)
    one, other = (ours.Lasso(alpha=0.01, selection="random", random_state=4).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("selection", ["random", "cyclic"])
@pytest.mark.parametrize("n_targets", [None, 3])
def test_a_generator_moves_as_far_as_with_scikit_learn(backend: str, selection: str, n_targets: int | None) -> None:
    X, y = regression(300, 12, n_targets, dtype=np.float32)
    found, expected = np.random.RandomState(5), np.random.RandomState(5)
    for space, generator in ((ours, found), (theirs, expected)):
        space.Lasso(alpha=0.01, selection=selection, random_state=generator).fit(X, y)
    assert found.randint(1 << 30) == expected.randint(1 << 30)


@pytest.mark.parametrize("backend", ["native"], indirect=True)
def test_a_descent_that_runs_out_warns(backend: str) -> None:
    X, y = regression(300, 8)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        model = ours.Lasso(alpha=1e-4, max_iter=1, tol=1e-12).fit(X, y)
    assert model.n_iter_ == 1
    assert model.dual_gap_ > 0


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m, X: (m.set_params(alpha=0.0), X), "alpha"),
        (lambda m, X: (m.set_params(precompute=X.T @ X), X), "products that the caller made"),
        (lambda m, X: (m, scipy.sparse.csc_array(X)), "sparse"),
    ],
)
def test_what_is_left_to_scikit_learn(backend: str, change: object, reason: str) -> None:
    X, y = regression(200, 5, dtype=np.float32)
    model, data = change(ours.ElasticNet(alpha=0.1, fit_intercept=False), X)
    with pytest.raises(ml.BackendUnavailableError, match=reason):
        model.fit(data, y)


@pytest.mark.filterwarnings("ignore:With alpha=0", "ignore:Coordinate descent", "ignore::UserWarning")
def test_what_is_left_to_scikit_learn_gives_its_answer() -> None:
    X, y = regression(200, 5)
    for parameters in ({"alpha": 0.0}, {"precompute": X.T @ X, "fit_intercept": False}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, expected = (space.Lasso(**parameters).fit(X, y) for space in (ours, theirs))
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        assert found.backend_ == "cpu"
    wide = np.random.default_rng(0).normal(size=(120, 130))
    found, expected = (space.Lasso(alpha=0.1).fit(wide, wide[:, 0]) for space in (ours, theirs))
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert "descent over the rows" in found.fallback_reasons_["fit"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", ENGINES, indirect=True)
def test_wide_data_run_where_they_are_asked_to(backend: str, name: str) -> None:
    X = np.random.default_rng(0).normal(size=(120, 150)).astype(np.float32)
    y = X[:, 0] - 2 * X[:, 1]
    found = getattr(ours, name)(alpha=0.1).fit(X, y)
    expected = getattr(theirs, name)(alpha=0.1, **CLOSE).fit(X.astype(np.float64), y)
    assert found.backend_ != "cpu"
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=0.03)


def test_bad_input_gets_scikit_learns_errors(backend: str) -> None:
    X, y = regression(200, 5, dtype=np.float32)
    bad = X.copy()
    bad[3, 2] = np.nan
    for arguments in ((bad, y), (X, np.where(y == y[0], np.inf, y)), (X, y[:-1]), (X[:0], y[:0])):
        with pytest.raises(ValueError) as expected:  # noqa: PT011
            theirs.Lasso().fit(*arguments)
        with pytest.raises(ValueError) as found:  # noqa: PT011
            ours.Lasso().fit(*arguments)
        assert str(found.value).splitlines()[0] == str(expected.value).splitlines()[0]
    with pytest.raises(ValueError, match="alpha"):
        ours.Lasso(alpha=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="selection"):
        ours.Lasso(selection="any").fit(X, y)


def test_it_lives_in_a_pickle(backend: str) -> None:
    X, y = regression(200, 5, dtype=np.float32)
    model = ours.Lasso(alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
