"""Inside scikit-learn: pipelines, searches, data frames, metadata routing, and the way back to scikit-learn alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
import sklearn.linear_model
import sklearn.preprocessing

import metalml as ml
from data import regression
from interpreter import run_python
from tolerance import assert_close

X, Y = regression(150, 4, dtype=np.float32)

EXAMPLE = """
import numpy as np, metalml as ml
rng = np.random.default_rng(7)
X = rng.normal(size=(5000, 32)).astype(np.float32)
y = X[:, 0] * 3 - X[:, 1]
model = ml.linear_model.Ridge(alpha=1.0)
model.fit(X, y); print(model.predict(X[:5])); print(model.operation_backends_)
with ml.config_context(backend="cpu"):
    baseline = ml.linear_model.Ridge().fit(X, y)
print(ml.backend_info()); print(model.operation_backends_); print(model.fallback_reasons_)
pipe = ml.pipeline.make_pipeline(ml.preprocessing.StandardScaler(), ml.linear_model.Ridge()).fit(X, y)
ml.model_selection.GridSearchCV(pipe, {"ridge__alpha": [0.1, 1, 10]}, cv=3, n_jobs=2).fit(X, y)
"""


def test_the_first_example_runs_as_it_stands() -> None:
    added = "print(abs(model.coef_ - baseline.coef_).max() < 1e-5, baseline.operation_backends_)"
    lines = run_python(EXAMPLE + added).splitlines()
    assert lines[-1] == "True {'fit': 'cpu'}"
    assert lines[1] == "{'fit': 'native', 'predict': 'cpu'}"


def pipeline(namespace: object) -> object:
    return ml.pipeline.make_pipeline(namespace.preprocessing.StandardScaler(), namespace.linear_model.Ridge())


def test_pipeline_and_grid_search_choose_as_with_scikit_learn(backend: str) -> None:
    grid = {"ridge__alpha": [0.01, 1, 1000.0], "standardscaler__with_mean": [True, False]}
    ours, theirs = (ml.model_selection.GridSearchCV(pipeline(space), grid, cv=3).fit(X, Y) for space in (ml, sklearn))
    assert ours.best_params_ == theirs.best_params_
    assert_close(ours.predict(X), theirs.predict(X), np.float32, len(X))
    assert_close(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], np.float32, len(X))


def test_cross_validation(backend: str) -> None:
    scores = ml.model_selection.cross_validate(pipeline(ml), X, Y, cv=4, return_train_score=True, return_estimator=True)
    expected = ml.model_selection.cross_validate(pipeline(sklearn), X, Y, cv=4, return_train_score=True)
    for part in ("test_score", "train_score"):
        assert_close(scores[part], expected[part], np.float32, len(X))
    assert {model[-1].backend_ for model in scores["estimator"]} != set()


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output_gives_frames_that_are_not_wrapped_twice(backend: str, container: str) -> None:
    library = pytest.importorskip(container, reason=f"{container} is not installed")
    frame = library.DataFrame({f"column {i}": X[:, i] for i in range(X.shape[1])})
    ours = ml.preprocessing.StandardScaler().set_output(transform=container).fit(frame)
    theirs = sklearn.preprocessing.StandardScaler().set_output(transform=container).fit(frame)
    found, expected = ours.transform(frame), theirs.transform(frame)
    assert type(found) is type(expected)
    assert list(found.columns) == list(expected.columns) == list(ours.get_feature_names_out())
    assert list(found.dtypes) == list(expected.dtypes)
    assert_close(found.to_numpy(), expected.to_numpy(), np.float32, len(X))
    if container == "pandas":
        frame.index = np.arange(len(X))[::-1]
        assert list(ours.transform(frame).index) == list(frame.index)
    assert type(ours.fit_transform(frame)) is type(expected)
    assert set(ours.operation_backends_) >= {"fit", "transform"}


def test_feature_names_are_kept_and_checked(backend: str) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    for model in (ml.linear_model.Ridge().fit(frame, Y), ml.preprocessing.StandardScaler().fit(frame)):
        assert list(model.feature_names_in_) == list("abcd")
        apply = model.predict if hasattr(model, "predict") else model.transform
        with pytest.raises(ValueError, match="feature names should match"):
            apply(frame[list("dcba")])
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            apply(X)


def test_column_transformer_with_missing_values(backend: str) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 2] > 0, "x", "y")})
    frame.loc[3:9, "a"] = np.nan
    results = []
    for space in (ml, sklearn):
        parts = [
            ("n", space.preprocessing.StandardScaler(), ["a", "b"]),
            ("c", ml.preprocessing.OneHotEncoder(), ["kind"]),
        ]
        results.append(ml.compose.ColumnTransformer(parts, sparse_threshold=0).fit_transform(frame))
    assert_close(results[0], results[1], np.float32, len(X))


def test_sample_weights_are_routed(backend: str) -> None:
    weights = np.linspace(0.1, 2, len(X)).astype(np.float32)
    with ml.config_context(enable_metadata_routing=True):
        results = []
        for space in (ml, sklearn):
            scaler = space.preprocessing.StandardScaler().set_fit_request(sample_weight=True)
            ridge = space.linear_model.Ridge().set_fit_request(sample_weight=True)
            results.append(ml.pipeline.make_pipeline(scaler, ridge).fit(X, Y, sample_weight=weights).predict(X))
        unasked = ml.pipeline.make_pipeline(ml.preprocessing.StandardScaler(), ml.linear_model.Ridge())
        with pytest.raises(ValueError, match="sample_weight"):
            unasked.fit(X, Y, sample_weight=weights)
    assert_close(results[0], results[1], np.float32, len(X))


def test_weights_reach_ensembles_and_wrappers(backend: str) -> None:
    weights = np.linspace(0.1, 2, len(X))
    models = [
        ml.ensemble.BaggingRegressor(space.linear_model.Ridge(), 3, random_state=0).fit(X, Y, sample_weight=weights)
        for space in (ml, sklearn)
    ]
    assert_close(models[0].predict(X), models[1].predict(X), np.float32, len(X))
    wrapped = ml.multioutput.MultiOutputRegressor(ml.linear_model.Ridge()).fit(
        X, np.stack([Y, -Y], 1), sample_weight=weights
    )
    assert_close(wrapped.predict(X)[:, 0], -wrapped.predict(X)[:, 1], np.float32, len(X))


def test_inner_calls_of_fit_transform_are_recorded(backend: str) -> None:
    scaler = ml.preprocessing.StandardScaler()
    Z = scaler.fit_transform(X)
    assert set(scaler.operation_backends_) >= {"fit", "transform"}
    np.testing.assert_array_equal(Z, scaler.transform(X))


def test_score_uses_our_predictions(backend: str) -> None:
    model = ml.linear_model.Ridge().fit(X, Y)
    assert_close(model.score(X, Y), sklearn.linear_model.Ridge().fit(X, Y).score(X, Y), np.float32, len(X))
    assert set(model.operation_backends_) == {"fit", "predict"}


def test_export_gives_plain_scikit_learn(backend: str) -> None:
    model = ml.pipeline.make_pipeline(ml.preprocessing.StandardScaler(), ml.linear_model.Ridge(alpha=0.5)).fit(X, Y)
    plain = ml.export(model)
    assert [type(step) for _, step in plain.steps] == [sklearn.preprocessing.StandardScaler, sklearn.linear_model.Ridge]
    assert plain[-1].get_params() == model[-1].get_params()
    assert vars(plain[-1]).keys() == vars(sklearn.linear_model.Ridge().fit(X, Y)).keys()
    assert_close(plain.predict(X), model.predict(X), np.float32, len(X))
    assert type(model[-1]) is ml.linear_model.Ridge, "the model itself stays what it was"
    loaded = run_python(
        f"""
        import pickle, sys
        model = pickle.loads({pickle.dumps(plain)!r})
        print(model.predict([[0.0, 1.0, 2.0, 3.0]]).shape, "metalml" in sys.modules)
        """
    )
    assert loaded == "(1,) False"
    assert type(ml.export(ml.linear_model.Ridge())) is sklearn.linear_model.Ridge
