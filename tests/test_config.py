"""The configuration: options, contexts, environment variables, threads, and worker processes."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import sklearn

import metalml as ml
from data import regression
from interpreter import run_python
from tolerance import assert_close

DEFAULTS = {"backend": "auto", "precision": "preserve", "on_fallback": None}
ALLOWED = {
    "backend": ["auto", "cpu", "native", "gpu", "metal", "vulkan", "dx12"],
    "precision": ["preserve", "float32"],
    "on_fallback": ["record", "warn", "raise", None],
}
X, Y = regression(60, 3, dtype=np.float32)  # small: `auto` would take scikit-learn


def where(**options: str) -> str:
    with ml.config_context(**options):
        return ml.linear_model.Ridge().fit(X, Y).backend_


def test_defaults() -> None:
    assert {name: ml.get_config()[name] for name in DEFAULTS} == DEFAULTS
    assert ml.get_config().items() >= sklearn.get_config().items()


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in ALLOWED.items() for value in values])
def test_every_value_is_taken_and_given_back(name: str, value: str | None) -> None:
    with ml.config_context(**{name: value}):
        assert ml.get_config()[name] == value
    assert ml.get_config()[name] == DEFAULTS[name]
    ml.set_config(**{name: value})
    assert ml.get_config()[name] == value
    ml.set_config(**DEFAULTS)


@pytest.mark.parametrize("set_it", [ml.set_config, lambda **options: ml.config_context(**options).__enter__()])
@pytest.mark.parametrize(
    ("name", "value"),
    [("backend", "cuda"), ("backend", None), ("backend", 1), ("precision", "float16"), ("on_fallback", "")],
)
def test_a_bad_value_names_what_is_allowed_and_changes_nothing(set_it: object, name: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"`{name}` is {value!r}.*{ALLOWED[name][0]}.*{ALLOWED[name][1]}"):
        set_it(
            **{
                name: value,
                "precision" if name != "precision" else "backend": "float32" if name != "precision" else "cpu",
            }
        )
    assert {name: ml.get_config()[name] for name in DEFAULTS} == DEFAULTS


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(TypeError, match="colour"):
        ml.set_config(colour="red")


def test_contexts_nest_and_end_after_an_error() -> None:
    with ml.config_context(backend="native", precision="float32"):
        with pytest.raises(ValueError, match="positive"), ml.config_context(backend="cpu", assume_finite=True):
            ml.linear_model.Ridge(solver="lbfgs", positive=False).fit(X, Y)
        assert ml.get_config()["precision"] == "float32"
        assert sklearn.get_config()["assume_finite"] is False
        assert ml.get_config()["backend"] == "native"
        ml.set_config(backend="cpu")
        assert ml.get_config()["backend"] == "cpu"
    assert ml.get_config()["backend"] == "auto"


def test_options_of_scikit_learn_pass_through() -> None:
    with ml.config_context(assume_finite=True, backend="native"):
        assert sklearn.get_config()["assume_finite"] is True
        assert ml.get_config()["assume_finite"] is True
    assert sklearn.get_config()["assume_finite"] is False
    with ml.config_context(transform_output="pandas", backend="native"):
        frame = ml.preprocessing.StandardScaler().fit_transform(X)
    assert list(frame.columns) == ["x0", "x1", "x2"]


@pytest.mark.parametrize(
    ("variable", "name", "values"),
    [
        ("METALML_BACKEND", "backend", ALLOWED["backend"]),
        ("METALML_PRECISION", "precision", ALLOWED["precision"]),
        ("METALML_ON_FALLBACK", "on_fallback", ALLOWED["on_fallback"][:3]),
    ],
)
def test_environment_variables(variable: str, name: str, values: list[str]) -> None:
    for value in {values[0], values[-1]}:
        assert run_python(f"import metalml; print(metalml.get_config()[{name!r}])", **{variable: value}) == value


def test_environment_variable_decides_where_calls_run() -> None:
    code = "import metalml; print(metalml.linear_model.Ridge().fit([[1.0], [2.0]], [1.0, 2.0]).backend_)"
    assert [run_python(code, METALML_BACKEND=value) for value in ("native", "cpu", "auto", "")] == [
        "native",
        "cpu",
        "cpu",
        "cpu",
    ]


@pytest.mark.parametrize("variable", ["METALML_BACKEND", "METALML_PRECISION", "METALML_ON_FALLBACK"])
def test_a_bad_environment_variable_is_named_at_the_first_call(variable: str) -> None:
    code = """
        import metalml
        try:
            metalml.linear_model.Ridge().fit([[1.0], [2.0]], [1.0, 2.0])
        except ValueError as error:
            print(error)
    """
    message = run_python(code, **{variable: "cuda"})
    assert variable in message
    assert "'cuda'" in message


def test_threads_follow_the_process_wide_default() -> None:
    ml.set_config(backend="native")
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda _: ml.linear_model.Ridge().fit(X, Y).backend_, range(4))) == ["native"] * 4
    ml.set_config(backend="auto")


def test_a_context_of_one_thread_is_not_seen_by_another_with_its_own() -> None:
    entered, checked, seen = threading.Barrier(2), threading.Barrier(2), {}

    def work(backend: str) -> None:
        with ml.config_context(backend=backend):
            entered.wait(20)
            seen[backend] = ml.linear_model.Ridge().fit(X, Y).backend_
            checked.wait(20)

    threads = [threading.Thread(target=work, args=(backend,)) for backend in ("native", "cpu")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert seen == {"native": "native", "cpu": "cpu"}
    assert ml.get_config()["backend"] == "auto"


@pytest.mark.parametrize("kind", ["threading", "loky"])
@pytest.mark.parametrize("by", ["context", "default"])
@pytest.mark.parametrize("backend", ["native", "cpu"])
def test_workers_of_a_grid_search_get_the_active_configuration(kind: str, by: str, backend: str) -> None:
    def score(model: object, *_: object) -> float:  # the worker reports where it ran, not how well
        ran = {step.operation_backends_["fit"] for _, step in model.steps}
        return {"native": 1.0, "cpu": 2.0}[ran.pop()] if len(ran) == 1 else -1.0

    pipe = ml.pipeline.make_pipeline(ml.preprocessing.StandardScaler(), ml.linear_model.Ridge())
    grid = {"ridge__alpha": [0.1, 1.0], "standardscaler__with_std": [True, False]}
    search = ml.model_selection.GridSearchCV(pipe, grid, cv=2, n_jobs=2, scoring=score, error_score="raise")
    with joblib.parallel_config(backend=kind):
        if by == "context":
            with ml.config_context(backend=backend):
                search.fit(X, Y)
        else:
            ml.set_config(backend=backend)
            search.fit(X, Y)
            ml.set_config(backend="auto")
    assert set(search.cv_results_["mean_test_score"]) == {1.0 if backend == "native" else 2.0}


def test_a_saved_model_carries_no_configuration() -> None:
    with ml.config_context(backend="native"):
        fitted = ml.linear_model.Ridge().fit(X, Y)
        saved, plain = pickle.dumps(fitted), fitted.predict(X)
    loaded = pickle.loads(saved)
    assert_close(loaded.predict(X), plain, np.float32, len(X))
    assert loaded.operation_backends_ == {"fit": "native", "predict": "cpu"}
    again = run_python(
        f"""
        import pickle, metalml as ml
        model = pickle.loads({saved!r})
        model.predict([[1.0, 2.0, 3.0]])
        print(model.operation_backends_["predict"], ml.get_config()["backend"])
        """
    )
    assert again == "cpu auto"
