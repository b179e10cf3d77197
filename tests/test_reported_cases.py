"""Reported cases: one test for each public bug report of a library that does this job.

Expected values are literals or float64 NumPy formulas, never the judged package's own answer. Cases of estimators that
are ours run on every engine; the others are scikit-learn's own, and watch that our namespace hands them over whole. On
a GPU a case may be refused with a reason; it may never be wrong. The file is long because the list of reports is.
"""

from __future__ import annotations

import functools
import importlib
import pickle
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

import metalml as ml

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

f32 = np.float32
OURS = {"B06", "B08", "B09", "B10", "B11", "B13", "B38", "B40", "B42", "B43", "B44", "B46", "B48", "B56", "B58"}
OURS |= {"B59", "B60", "B61", "B63", "B65", "B67"}
SKLEARN_WRONG = {"B03", "B05"}
if sklearn.__version__.startswith("1.6."):
    SKLEARN_WRONG.add("B28")
SHORTEST_REASON = 20

pytestmark = [
    pytest.mark.usefixtures("backend"),
    pytest.mark.filterwarnings("ignore"),  # scikit-learn's own warnings are not what is judged
]


def E(path: str) -> type:
    """Return an estimator class by `module.Class`."""
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(f"metalml.{module}"), name)


def bug(ident: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a case on the engines that concern it; a refusal of the GPU is an answer, if it has a reason."""

    def decorate(case: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(case)
        def judged(*args: object, **kwargs: object) -> None:
            try:
                case(*args, **kwargs)
            except ml.BackendUnavailableError as refusal:
                if len(str(refusal)) < SHORTEST_REASON:
                    raise
                pytest.skip(f"refused: {refusal}")

        if ident in SKLEARN_WRONG:
            # Not on every machine: what is lost depends on the BLAS.
            reason = "scikit-learn itself is wrong here, and this is not ours yet"
            judged = pytest.mark.xfail(reason=reason, strict=False)(judged)
        backends = ["auto", "native", "gpu"] if ident in OURS else ["auto"]
        return pytest.mark.parametrize("backend", backends, indirect=True)(judged)

    return decorate


def rng(seed: int = 0) -> np.random.RandomState:
    """Return the generator whose numbers the reports use."""
    return np.random.RandomState(seed)


def recall(idx: np.ndarray, X: np.ndarray, k: int) -> float:
    X = X.astype(float)
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    ref = np.argsort(D, 1, kind="stable")[:, :k]
    return np.mean([len(set(a) & set(b)) / k for a, b in zip(idx, ref, strict=True)])


@bug("B01")
def test_B01_distance_two_close_large_numbers() -> None:
    nn = E("neighbors.NearestNeighbors")(n_neighbors=1, algorithm="brute").fit(f32([[10001]]))
    assert np.isclose(nn.kneighbors(f32([[10000]]))[0][0, 0], 1.0, rtol=1e-6)


@bug("B02")
@pytest.mark.parametrize("off", [0, 1e3, 1e4, 1e5])
def test_B02_knn_recall_with_offset(off: float) -> None:
    X = (rng().randn(600, 8) + off).astype(f32)
    idx = E("neighbors.NearestNeighbors")(n_neighbors=5, algorithm="brute").fit(X).kneighbors(X)[1]
    assert recall(idx, X, 5) > 0.999


@bug("B03")
def test_B03_pca_float32_offset() -> None:
    X = (rng().randn(20000, 2) * [3, 0.1] + 1e3).astype(f32)
    true = np.linalg.eigvalsh(np.cov(X.astype(float).T))[::-1]
    assert np.allclose(E("decomposition.PCA")().fit(X).explained_variance_, true, rtol=1e-3)


@bug("B05")
def test_B05_pca_whiten_low_rank() -> None:
    from sklearn.datasets import make_low_rank_matrix

    X = make_low_rank_matrix(1000, 10, effective_rank=2, random_state=0, tail_strength=0)
    Z = E("decomposition.PCA")(whiten=True).fit(X).transform(X)
    # 3.90623 is the float64 full-SVD answer; exploding columns mean a zero variance was divided by
    assert np.abs(Z).max() < 100


@bug("B06")
def test_B06_linear_regression_float32_intercept() -> None:
    r = np.random.default_rng(0)
    a, b, c = (r.integers(1000, 10000, size=1_000_000) for _ in range(3))
    m = E("linear_model.LinearRegression")().fit(np.stack([a, b, c], -1).astype(f32), 3 * a + b - 5 * c + 2)
    assert abs(float(m.intercept_) - 2) < 0.1


@bug("B08")
def test_B08_scaler_constant_column() -> None:
    s = E("preprocessing.StandardScaler")().fit(np.full((1000, 1), 14.62))
    assert s.scale_[0] == 1 and abs(s.transform([[14.62]])[0, 0]) < 1e-12


@bug("B09")
@pytest.mark.parametrize("sc", [1e-10, 1e-15, 1e-30])
def test_B09_scaler_tiny_scale(sc: float) -> None:
    D = (rng().rand(1000, 4) - 0.5) * sc
    Z = E("preprocessing.StandardScaler")().fit_transform(D)
    assert np.abs(Z.std(0) - 1).max() < 1e-6


@bug("B10")
def test_B10_scaler_float16_constant() -> None:
    X = np.full((100_000, 1), 10.0, np.float16)
    Z = E("preprocessing.StandardScaler")().fit_transform(X)
    assert np.all(Z == 0)


@bug("B11")
def test_B11_minmax_constant_and_nan() -> None:
    M = E("preprocessing.MinMaxScaler")
    assert np.array_equal(M().fit_transform([[5.0, 1.0], [5, 2], [5, 3]]), [[0, 0], [0, 0.5], [0, 1]])
    out = M().fit_transform([[1.0], [np.nan], [3.0]]).ravel()
    assert out[0] == 0 and np.isnan(out[1]) and out[2] == 1
    assert E("preprocessing.StandardScaler")().fit([[1.0], [np.nan], [3.0]]).mean_[0] == 2


@bug("B13")
def test_B13_normalizer_zero_row() -> None:
    assert np.array_equal(E("preprocessing.Normalizer")().fit_transform([[0.0, 0.0], [3.0, 4.0]]), [[0, 0], [0.6, 0.8]])


@bug("B14")
def test_B14_kmeans_weighted_inertia_and_score() -> None:
    X = np.array([[0.0, 0], [1, 1], [2, 2], [10, 10], [11, 11], [12, 12]])
    m = E("cluster.KMeans")(2, init=np.array([[1.0, 1], [11, 11]]), n_init=1).fit(X, sample_weight=[1.0, 1, 1, 2, 2, 2])
    assert np.isclose(m.inertia_, 12) and np.isclose(
        m.score(np.array([[0.0, 0], [10, 10]]), sample_weight=[2.0, 2.0]), -8
    )


@bug("B15")
def test_B15_kmeans_empty_cluster_dense() -> None:
    m = E("cluster.KMeans")(3, init=np.array([[4.0], [0.0], [1.0]]), n_init=1, max_iter=10, tol=0).fit(
        np.array([[1.0], [2.0], [3.0]])
    )
    assert m.inertia_ == 0 and len(set(m.labels_)) == 3 and np.isfinite(m.cluster_centers_).all()
    assert np.array_equal(m.labels_, m.predict(np.array([[1.0], [2.0], [3.0]])))


@bug("B17")
def test_B17_kmeans_fewer_distinct_points_than_k() -> None:
    from sklearn.exceptions import ConvergenceWarning

    X = np.repeat(np.arange(9.0)[:, None] * [1, 7], 2, axis=0)
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        m = E("cluster.KMeans")(10, n_init=2, random_state=0).fit(X)
    assert len(set(m.labels_)) == 9 and np.isclose(m.inertia_, 0) and np.isfinite(m.cluster_centers_).all()
    assert any(issubclass(i.category, ConvergenceWarning) for i in w)


@bug("B19")
def test_B19_kmeans_tie_goes_to_lowest_index() -> None:
    m = E("cluster.KMeans")(2, init=np.array([[0.0], [2.0]]), n_init=1).fit(np.array([[0.0], [2.0]]))
    assert m.predict(np.array([[1.0]]))[0] == 0


@bug("B20")
def test_B20_kmeans_float64_huge_values() -> None:
    X = np.array([[1e100, 2e100], [3e100, 4e100], [9e100, 9e100]])
    L = E("cluster.KMeans")(2, n_init=3, random_state=0).fit_predict(X)
    assert L[0] == L[1] != L[2]


@bug("B21")
def test_B21_kmeans_random_state_repeats_and_init_array_is_used() -> None:
    X = rng().randn(2000, 5).astype(f32)
    K = E("cluster.KMeans")
    a, b = (K(8, n_init=1, random_state=3).fit(X) for _ in range(2))
    assert np.array_equal(a.labels_, b.labels_) and np.array_equal(a.cluster_centers_, b.cluster_centers_)
    # one iteration from given centers is fully determined
    init = X[:4].astype(float)
    D = ((X[:, None].astype(float) - init) ** 2).sum(-1).argmin(1)
    want = np.array([X[j == D].astype(float).mean(0) for j in range(4)])
    got = K(4, init=init.astype(f32), n_init=1, max_iter=1).fit(X).cluster_centers_
    assert np.allclose(got, want, atol=1e-4)


@bug("B23")
def test_B23_kmeans_float32_offset() -> None:
    from sklearn.datasets import make_blobs
    from sklearn.metrics import adjusted_rand_score

    X, y = make_blobs(3000, 2, centers=[[0, 0], [3, 0], [0, 3]], cluster_std=0.3, random_state=0)
    m = E("cluster.KMeans")(3, n_init=5, random_state=0).fit((X + 1e5).astype(f32))
    assert adjusted_rand_score(y, m.labels_) == 1 and np.isclose(m.inertia_, 523.63, rtol=1e-2)


@bug("B25")
def test_B25_vote_tie_smallest_label() -> None:
    K = E("neighbors.KNeighborsClassifier")
    assert K(2).fit([[0.0], [1.0]], [1, 0]).predict([[0.5]])[0] == 0
    assert K(2).fit([[0.0], [1.0]], ["b", "a"]).predict([[0.5]])[0] == "a"


@bug("B26")
def test_B26_distance_weights_with_zero_distance() -> None:
    R, C = E("neighbors.KNeighborsRegressor"), E("neighbors.KNeighborsClassifier")
    assert R(3, weights="distance").fit([[1.0], [2.0], [3.0]], [1.0, 2, 3]).predict([[1.0]])[0] == 1
    assert R(3, weights="distance").fit([[1.0], [1.0], [3.0]], [1.0, 2, 30]).predict([[1.0]])[0] == 1.5
    assert np.array_equal(
        C(3, weights="distance").fit([[1.0], [1.0], [3.0]], [0, 1, 2]).predict_proba([[1.0]]), [[0.5, 0.5, 0]]
    )


@bug("B28")
def test_B28_string_labels_p1_brute() -> None:
    X = np.random.default_rng(0).normal(size=(5, 3))
    p = (
        E("neighbors.KNeighborsClassifier")(1, algorithm="brute", p=1)
        .fit(X, ["foo", "bar", "foo", "bar", "bar"])
        .predict(X)
    )
    assert list(p) == ["foo", "bar", "foo", "bar", "bar"]


@bug("B29")
def test_B29_large_integer_labels_stay_distinct() -> None:
    L = np.array([16777216, 16777217, 16777218])
    assert np.array_equal(
        E("neighbors.KNeighborsClassifier")(1).fit([[0.0], [1.0], [2.0]], L).predict([[0.0], [1.0], [2.0]]), L
    )


@bug("B31")
def test_B31_self_query_excludes_self() -> None:
    X = f32([[0.0], [0.0], [5.0]])
    d, i = E("neighbors.NearestNeighbors")(n_neighbors=1).fit(X).kneighbors()
    assert all(i[j, 0] != j for j in range(3)) and d[0, 0] == 0 and d[2, 0] == 5


@bug("B32")
def test_B32_dtypes_of_kneighbors() -> None:
    X = rng().rand(50, 4).astype(f32)
    d, i = E("neighbors.NearestNeighbors")(n_neighbors=3, algorithm="brute").fit(X).kneighbors(X)
    assert d.dtype == np.float64 and i.dtype == np.int64


@bug("B34")
def test_B34_2500_class_probabilities() -> None:
    X = rng().rand(5000, 4)
    y = np.arange(5000) % 2500
    P = E("neighbors.KNeighborsClassifier")(5).fit(X, y).predict_proba(X[:100])
    assert P.shape == (100, 2500) and np.allclose(P.sum(1), 1) and P.dtype == np.float64
    assert set(np.round(np.unique(P), 6)) <= {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}


@bug("B36")
def test_B36_dbscan_border_point_does_not_join_clusters() -> None:
    X = f32([[0, 0], [1, 0], [1, 1], [1, -1], [2, 0], [3, 0], [4, 0], [4, 1], [4, -1], [5, 0]])
    m = E("cluster.DBSCAN")(eps=1.0, min_samples=4).fit(X)
    assert list(m.labels_) == [0] * 5 + [1] * 5 and list(m.core_sample_indices_) == [1, 6]


@bug("B37")
def test_B37_agglomerative_float64_huge() -> None:
    X = np.array([[1e100, 2e100], [3e100, 4e100], [9e100, 9e100]])
    L = E("cluster.AgglomerativeClustering")(2).fit_predict(X)
    assert L[0] == L[1] != L[2]


@bug("B38")
def test_B38_lasso_objective_scaling() -> None:
    m = E("linear_model.Lasso")(1.0).fit([[1.0], [2], [3], [4], [5]], [2.0, 4, 6, 8, 10])
    assert np.isclose(m.coef_[0], 1.5, atol=1e-3) and np.isclose(m.intercept_, 1.5, atol=1e-2)


@bug("B40")
def test_B40_ridge_alpha0_rank_deficient_min_norm() -> None:
    X = rng(123).randn(5, 20)
    y = rng(5).randn(5)
    X, y = np.r_[X, X], np.r_[y, y]
    m = E("linear_model.Ridge")(fit_intercept=False, alpha=0).fit(X, y)
    assert np.allclose(X @ m.coef_, y, atol=1e-6) and np.allclose(m.coef_, np.linalg.pinv(X) @ y, atol=1e-5)


@bug("B42")
def test_B42_one_column_and_one_row() -> None:
    L = E("linear_model.LinearRegression")
    assert np.isclose(L().fit([[1.0], [2.0], [3.0]], [2.0, 4, 6]).coef_[0], 2)
    m = L().fit([[3.0, 4.0]], [7.0])
    assert np.allclose(m.coef_, 0) and np.isclose(m.intercept_, 7)


@bug("B43")
def test_B43_logistic_separable_stays_finite() -> None:
    m = E("linear_model.LogisticRegression")(C=1e6, max_iter=1000).fit([[-1.0], [1.0]], [0, 1])
    # minimiser of w^2/(2C) + 2 log(1+exp(-w)) by Newton in float64
    w = 1.0
    for _ in range(200):
        s = 1 / (1 + np.exp(w))
        w -= (w / 1e6 - 2 * s) / (1 / 1e6 + 2 * s * (1 - s))
    assert np.isfinite(m.coef_).all() and m.coef_[0, 0] > 5
    assert np.array_equal(m.predict([[-1.0], [1.0]]), [0, 1]) and abs(m.coef_[0, 0]) < w * 1.05


@bug("B44")
def test_B44_logistic_saturated_probabilities() -> None:
    P = E("linear_model.LogisticRegression")().fit([[-1.0], [1.0]], [0, 1]).predict_proba([[1e4], [-1e4]])
    assert np.array_equal(P, [[0, 1], [1, 0]]) and np.isfinite(P).all()


@bug("B46")
def test_B46_logistic_breast_cancer_unscaled() -> None:
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    X, y = load_breast_cancer(return_X_y=True)
    a, b, c, d = train_test_split(X, y, random_state=42, test_size=0.25)
    assert E("linear_model.LogisticRegression")(max_iter=10000).fit(a, c).score(b, d) >= 0.95


@bug("B48")
def test_B48_zero_weight_linear_family() -> None:
    X = rng().randn(60, 3)
    y = X @ [1.0, 2, 3] + rng(1).randn(60)
    sw = np.r_[np.ones(30), np.zeros(30)]
    for p in ("LinearRegression", "Ridge", "Lasso", "LogisticRegression"):
        yy = y if p != "LogisticRegression" else (y > 0).astype(int)
        C = E("linear_model." + p)
        assert np.allclose(C().fit(X, yy, sample_weight=sw).coef_, C().fit(X[:30], yy[:30]).coef_, atol=1e-4), p


@bug("B49")
def test_B49_svc_multiclass_class_weight() -> None:
    a = np.array([[i, i] for i in range(6)], float)
    m = E("svm.SVC")(kernel="rbf", decision_function_shape="ovo", class_weight={0: 0.1, 1: 10.0, 2: 0.5}).fit(
        a, [0, 0, 1, 1, 2, 2]
    )
    assert list(m.predict(np.array([[0.0, 0], [3, 3], [5, 5]]))) == [1, 1, 2]


@bug("B51")
def test_B51_tree_casts_to_float32() -> None:
    T = E("tree.DecisionTreeClassifier")().fit(np.array([[16777216.0], [16777217.0]]), [0, 1])
    assert T.tree_.node_count == 1 and list(T.predict(np.array([[16777216.0], [16777217.0]]))) == [0, 0]


@bug("B53")
def test_B53_gaussian_nb_far_from_origin() -> None:
    x = np.r_[rng(0).randn(500), rng(1).randn(500) + 1][:, None]
    y = np.r_[np.zeros(500), np.ones(500)]
    G = E("naive_bayes.GaussianNB")
    # var_smoothing multiplies the variance, so a shift must change nothing
    assert np.allclose(G().fit(x + 1e5, y).predict_proba(x + 1e5), G().fit(x, y).predict_proba(x), atol=1e-4)


@bug("B54")
def test_B54_gaussian_nb_length_mismatch_is_an_error() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        E("naive_bayes.GaussianNB")().fit(np.ones((5, 2)), [0, 1, 0])


@bug("B56")
def test_B56_negative_strides() -> None:
    X = np.arange(12.0).reshape(4, 3)
    assert np.array_equal(E("preprocessing.StandardScaler")().fit(X[::-1, ::-1]).mean_, [6.5, 5.5, 4.5])


@bug("B58")
def test_B58_read_only_and_memmap(tmp_path: Path) -> None:
    X = np.memmap(tmp_path / "x", dtype=f32, mode="w+", shape=(200, 4))
    X[:] = rng().rand(200, 4)
    X.flush()
    X = np.memmap(tmp_path / "x", dtype=f32, mode="r", shape=(200, 4))
    y = (np.asarray(X)[:, 0] > 0.5).astype(int)
    before = np.array(X)
    for p, kw in [
        ("preprocessing.StandardScaler", {}),
        ("preprocessing.MinMaxScaler", {}),
        ("decomposition.PCA", {}),
        ("linear_model.Ridge", {}),
        ("cluster.KMeans", dict(n_clusters=2, n_init=1)),
        ("linear_model.LogisticRegression", {}),
        ("neighbors.KNeighborsClassifier", {}),
    ]:
        m = E(p)(**kw).fit(X, y)
        (m.predict if hasattr(m, "predict") else m.transform)(X)
    assert np.array_equal(before, X)


@bug("B59")
def test_B59_input_never_changed_in_float32_and_float64() -> None:
    for dt in (f32, float):
        X = (rng().rand(300, 4) + 100).astype(dt)
        keep = X.copy()
        y = (X[:, 0] > 100.5).astype(int)
        for p, kw in [
            ("cluster.KMeans", dict(n_clusters=3, n_init=1)),
            ("decomposition.PCA", {}),
            ("linear_model.LinearRegression", {}),
            ("linear_model.Ridge", {}),
        ]:
            E(p)(**kw).fit(X, y)
            assert np.array_equal(X, keep), p


@bug("B60")
def test_B60_zero_rows_predict_message() -> None:
    for p, kw, meth in [
        ("cluster.KMeans", dict(n_clusters=1, n_init=1), "predict"),
        ("preprocessing.StandardScaler", {}, "transform"),
        ("linear_model.LinearRegression", {}, "predict"),
    ]:
        m = E(p)(**kw).fit([[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0])
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            getattr(m, meth)(np.empty((0, 2)))


@bug("B61")
def test_B61_feature_count_message() -> None:
    for p, meth in [
        ("linear_model.LinearRegression", "predict"),
        ("preprocessing.StandardScaler", "transform"),
        ("tree.DecisionTreeClassifier", "predict"),
        ("neighbors.KNeighborsClassifier", "predict"),
    ]:
        kw = dict(n_neighbors=1) if "KNeighbors" in p else {}
        m = E(p)(**kw).fit([[1.0, 2.0], [3.0, 4.0]], [1, 2])
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 2 features as input"):
            getattr(m, meth)(np.ones((2, 3)))


@bug("B63")
def test_B63_pandas_nullable_dtypes() -> None:
    pd = pytest.importorskip("pandas")
    df = pd.DataFrame({"a": pd.array([1, 2, None], dtype="Int64"), "b": pd.array([1.0, 2.0, 3.0], dtype="Float64")})
    Z = np.asarray(E("preprocessing.StandardScaler")().fit_transform(df), float)
    assert np.allclose(Z[:, 1], [-1.2247449, 0, 1.2247449]) and np.isnan(Z[2, 0]) and np.allclose(Z[:2, 0], [-1, 1])


@bug("B64")
def test_B64_clone_keeps_parameters() -> None:
    e = E("decomposition.PCA")(42, svd_solver="arpack")
    assert clone(e).get_params()["svd_solver"] == "arpack" and clone(e).get_params()["n_components"] == 42


@bug("B65")
def test_B65_nan_and_inf_are_refused() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        X = rng().rand(20, 3).astype(f32)
        X[7, 1] = bad
        for p, kw in [
            ("cluster.KMeans", dict(n_clusters=2, n_init=1)),
            ("linear_model.Ridge", {}),
            ("decomposition.PCA", {}),
            ("neighbors.KNeighborsClassifier", {}),
        ]:
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                E(p)(**kw).fit(X, np.arange(20) % 2)


@bug("B67")
def test_B67_dtype_contract() -> None:
    X = rng().rand(100, 4)
    y = (X[:, 0] > 0.5).astype(int)
    for p, attr, kw in [
        ("cluster.KMeans", "cluster_centers_", dict(n_clusters=2, n_init=1)),
        ("decomposition.PCA", "components_", {}),
        ("linear_model.Ridge", "coef_", {}),
        ("preprocessing.MinMaxScaler", "min_", {}),
    ]:
        for dt, want in ((f32, f32), (float, float), (np.int64, float)):
            assert getattr(E(p)(**kw).fit((X * 100).astype(dt), y), attr).dtype == want, (p, dt)
    assert E("preprocessing.StandardScaler")().fit(X.astype(f32)).mean_.dtype == np.float64


@bug("B69")
def test_B69_pickle_round_trip_and_plain_use() -> None:
    X = rng().rand(200, 4).astype(f32)
    m = E("cluster.KMeans")(3, n_init=1, random_state=0).fit(X)
    assert np.array_equal(pickle.loads(pickle.dumps(m)).predict(X), m.predict(X))
