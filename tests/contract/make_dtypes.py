"""Makes `dtypes.json`: the types that scikit-learn gives, by release, estimator, way of fitting, and input dtype.

python tests/contract/make_dtypes.py       # adds or renews the table of the installed scikit-learn
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import sklearn

TABLE = Path(__file__).with_name("dtypes.json")
RELEASE = ".".join(sklearn.__version__.split(".")[:2])
DTYPES = ("float32", "float64", "int64", "float16", "bool")
N_ROWS = 128  # enough for `auto` to take the native engine


def _data(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3)) * 10
    y = np.stack([X[:, 0] - X[:, 1], X[:, 2] + rng.normal(size=N_ROWS)], axis=1)
    if dtype == "bool":
        return X > 0, y > 0
    return X.astype(dtype), y.astype(dtype)


def _with_gaps(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    if X.dtype.kind == "f":
        X[3, 1] = np.nan
    return X


def _small(X: np.ndarray) -> np.ndarray:
    # Fourth powers leave the range of float16.
    return X / np.float16(16) if X.dtype == np.float16 else X


def _labels(y: np.ndarray) -> np.ndarray:
    return (y[:, 0] > 0).astype(int)


_WEIGHTS = np.linspace(0.5, 2, N_ROWS)

# Estimator, name of the case, parameters, and how it is fitted.
CASES = [
    ("linear_model.Ridge", "plain", {}, lambda m, X, y: m.fit(X, y[:, 0])),
    ("linear_model.Ridge", "cholesky", {"solver": "cholesky"}, lambda m, X, y: m.fit(X, y[:, 0])),
    ("linear_model.Ridge", "no intercept", {"fit_intercept": False}, lambda m, X, y: m.fit(X, y[:, 0])),
    ("linear_model.Ridge", "weights", {}, lambda m, X, y: m.fit(X, y[:, 0], sample_weight=_WEIGHTS)),
    ("linear_model.Ridge", "one number for all weights", {}, lambda m, X, y: m.fit(X, y[:, 0], sample_weight=2.0)),
    ("linear_model.Ridge", "one column of targets", {}, lambda m, X, y: m.fit(X, y[:, :1])),
    ("linear_model.Ridge", "two targets", {}, lambda m, X, y: m.fit(X, y)),
    ("linear_model.Ridge", "two targets, no intercept", {"fit_intercept": False}, lambda m, X, y: m.fit(X, y)),
    ("linear_model.Ridge", "an alpha for each", {"alpha": np.array([1.0, 2.0])}, lambda m, X, y: m.fit(X, y)),
    ("linear_model.Ridge", "float64 targets", {}, lambda m, X, y: m.fit(X, y[:, 0].astype(np.float64))),
    ("linear_model.Ridge", "integer targets", {}, lambda m, X, y: m.fit(X, y[:, 0].astype(np.int64))),
    ("linear_model.Ridge", "other solver", {"solver": "svd"}, lambda m, X, y: m.fit(X, y[:, 0])),
    ("linear_model.RidgeClassifier", "plain", {}, lambda m, X, y: m.fit(X, _labels(y))),
    ("linear_model.RidgeClassifier", "weights", {}, lambda m, X, y: m.fit(X, _labels(y), sample_weight=_WEIGHTS)),
    ("linear_model.RidgeClassifier", "no intercept", {"fit_intercept": False}, lambda m, X, y: m.fit(X, _labels(y))),
    ("linear_model.RidgeClassifier", "balanced", {"class_weight": "balanced"}, lambda m, X, y: m.fit(X, _labels(y))),
    ("linear_model.RidgeClassifier", "three classes", {}, lambda m, X, y: m.fit(X, np.arange(N_ROWS) % 3)),
    ("linear_model.LinearRegression", "plain", {}, lambda m, X, y: m.fit(X, y[:, 0])),
    ("linear_model.LinearRegression", "no intercept", {"fit_intercept": False}, lambda m, X, y: m.fit(X, y[:, 0])),
    ("linear_model.LinearRegression", "weights", {}, lambda m, X, y: m.fit(X, y[:, 0], sample_weight=_WEIGHTS)),
    ("linear_model.LinearRegression", "one column of targets", {}, lambda m, X, y: m.fit(X, y[:, :1])),
    ("linear_model.LinearRegression", "two targets", {}, lambda m, X, y: m.fit(X, y)),
    ("linear_model.LinearRegression", "float64 targets", {}, lambda m, X, y: m.fit(X, y[:, 0].astype(np.float64))),
    *(
        (f"covariance.{name}", case, parameters, lambda m, X, _: m.fit(_small(X)))
        for name in ("EmpiricalCovariance", "ShrunkCovariance", "LedoitWolf", "OAS")
        for case, parameters in [("plain", {}), ("about 0", {"assume_centered": True})]
    ),
    *(
        (f"covariance.{name}", "one column", {}, lambda m, X, _: m.fit(X[:, :1]))
        for name in ("EmpiricalCovariance", "LedoitWolf", "OAS")
    ),
    ("naive_bayes.GaussianNB", "plain", {}, lambda m, X, y: m.fit(X, _labels(y))),
    ("naive_bayes.GaussianNB", "weights", {}, lambda m, X, y: m.fit(X, _labels(y), sample_weight=_WEIGHTS)),
    ("naive_bayes.GaussianNB", "priors", {"priors": [0.5, 0.5]}, lambda m, X, y: m.fit(X, _labels(y))),
    *(
        (f"naive_bayes.{name}", case, {}, fit)
        for name in ("MultinomialNB", "ComplementNB", "BernoulliNB")
        for case, fit in [
            ("plain", lambda m, X, y: m.fit(np.abs(X), _labels(y))),
            ("weights", lambda m, X, y: m.fit(np.abs(X), _labels(y), sample_weight=_WEIGHTS)),
            ("parts", lambda m, X, y: m.partial_fit(np.abs(X), _labels(y), classes=[0, 1])),
        ]
    ),
    ("preprocessing.MinMaxScaler", "plain", {}, lambda m, X, _: m.fit(X)),
    ("preprocessing.MinMaxScaler", "missing values", {}, lambda m, X, _: m.fit(_with_gaps(X))),
    ("preprocessing.MinMaxScaler", "two parts", {}, lambda m, X, _: m.partial_fit(X[:64]).partial_fit(X[64:])),
    ("preprocessing.MinMaxScaler", "clipped", {"clip": True}, lambda m, X, _: m.fit(X)),
    ("preprocessing.MaxAbsScaler", "plain", {}, lambda m, X, _: m.fit(X)),
    ("preprocessing.MaxAbsScaler", "two parts", {}, lambda m, X, _: m.partial_fit(X[:64]).partial_fit(X[64:])),
    ("preprocessing.Normalizer", "plain", {}, lambda m, X, _: m.fit(X)),
    ("preprocessing.StandardScaler", "plain", {}, lambda m, X, _: m.fit(X)),
    ("preprocessing.StandardScaler", "missing values", {}, lambda m, X, _: m.fit(_with_gaps(X))),
    ("preprocessing.StandardScaler", "weights", {}, lambda m, X, _: m.fit(X, sample_weight=_WEIGHTS)),
    ("preprocessing.StandardScaler", "not centred", {"with_mean": False}, lambda m, X, _: m.fit(X)),
    ("preprocessing.StandardScaler", "not scaled", {"with_std": False}, lambda m, X, _: m.fit(X)),
    (
        "preprocessing.StandardScaler",
        "neither",
        {"with_mean": False, "with_std": False},
        lambda m, X, _: m.fit(X),
    ),
    ("preprocessing.StandardScaler", "two parts", {}, lambda m, X, _: m.partial_fit(X[:64]).partial_fit(X[64:])),
    (
        "preprocessing.StandardScaler",
        "weights in two parts",
        {},
        lambda m, X, _: m.partial_fit(X[:64], sample_weight=_WEIGHTS[:64]).partial_fit(X[64:]),
    ),
]
METHODS = ("predict", "predict_proba", "predict_joint_log_proba", "transform", "inverse_transform")


def _in_words(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype}, {value.ndim}-dimensional"
    if isinstance(value, np.generic):
        return f"NumPy scalar of {value.dtype}"
    return type(value).__name__


def observe(namespace: str) -> dict[str, dict[str, str]]:
    """Return, for each case, what its attributes and results are; `namespace` is `sklearn` or `metalml`."""
    seen: dict[str, dict[str, str]] = {}
    for path, case, parameters, fit in CASES:
        module, name = path.rsplit(".", 1)
        for dtype in DTYPES:
            X, y = _data(dtype)
            model = fit(getattr(importlib.import_module(f"{namespace}.{module}"), name)(**parameters), X, y)
            attributes = vars(model).keys() - model.get_params().keys()
            row = {key: _in_words(getattr(model, key)) for key in attributes if not key.startswith("_metalml_")}
            for method in METHODS:
                if hasattr(model, method):
                    for given in ("float32", "float64", "int64"):
                        row[f"{method}({given})"] = _in_words(getattr(model, method)(_data(given)[0]))
            seen[f"{name}, {case}, {dtype}"] = dict(sorted(row.items()))
    return seen


def main() -> None:
    """Write the table of the installed release, keep those of others."""
    tables = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    tables[RELEASE] = observe("sklearn")
    TABLE.write_text(json.dumps(tables, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
