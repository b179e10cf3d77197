"""Dispatch: where calls run, what is recorded, what a strict backend refuses, and what `on_fallback` changes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model

import metalml as ml
from data import regression
from interpreter import run_python

X, Y = regression(128, 4, dtype=np.float32)
X64, Y64 = X.astype(np.float64), Y.astype(np.float64)
GPU_VALUES = {"vulkan", "metal", "dx12"}


@pytest.mark.parametrize(
    ("backend", "expected"),
    [("cpu", {"cpu"}), ("native", {"native"}), ("auto", {"native"}), ("gpu", GPU_VALUES)],
    indirect=["backend"],
)
def test_every_operation_is_recorded(backend: str, expected: set[str]) -> None:
    scaler = ml.preprocessing.StandardScaler().fit(X)
    scaler.inverse_transform(scaler.transform(X))
    model = ml.linear_model.Ridge().fit(X, Y)
    model.predict(X)
    assert set(scaler.operation_backends_) == set(scaler.fallback_reasons_) == {"fit", "transform", "inverse_transform"}
    assert set(model.operation_backends_) == set(model.fallback_reasons_) == {"fit", "predict"}
    assert set(scaler.operation_backends_.values()) <= expected
    assert {model.operation_backends_["fit"].removesuffix("+native"), model.operation_backends_["predict"]} <= expected
    for fitted in (scaler, model):
        assert fitted.backend_ == fitted.operation_backends_["fit"]
        for reason in fitted.fallback_reasons_.values():
            if backend == "gpu":
                assert reason is None
            else:
                assert isinstance(reason, str)
                assert len(reason) > 10


@pytest.mark.parametrize("backend", ["auto"], indirect=True)
def test_a_small_call_says_its_size_and_the_floor(backend: str) -> None:
    model = ml.linear_model.Ridge().fit(X[:64], Y[:64])
    model.predict(X[:1])
    assert model.operation_backends_ == {"fit": "cpu", "predict": "cpu"}
    assert "64 rows" in model.fallback_reasons_["fit"]
    assert "1 row" in model.fallback_reasons_["predict"]
    model.predict(X)
    assert model.operation_backends_["predict"] == "native"
    assert "128 rows" in model.fallback_reasons_["predict"]


@pytest.mark.parametrize("policy", ["record", "warn", "raise"])
@pytest.mark.parametrize(("dtype", "n_columns"), [(np.float32, 151), (np.float64, 501)])
@pytest.mark.parametrize("n_rows", [520, 140], ids=["tall", "wide"])
def test_auto_leaves_a_large_system_to_scikit_learn(dtype: type, n_columns: int, n_rows: int, policy: str) -> None:
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns)).astype(dtype)
    left = min(X.shape) == n_columns
    with ml.config_context(on_fallback=policy), warnings.catch_warnings():
        warnings.simplefilter("error", ml.FallbackWarning)  # a choice of `auto` is no fallback
        model = ml.linear_model.Ridge().fit(X, X[:, 0])
    assert model.backend_ == ("cpu" if left else "native")
    if left:
        assert model.fallback_reasons_["fit"].startswith(f"a system of {n_columns} unknowns: above {n_columns - 1}, ")
    with ml.config_context(backend="native", on_fallback=policy):
        assert ml.linear_model.Ridge().fit(X, X[:, 0]).backend_ == "native"


def test_the_record_is_not_the_callers_to_change() -> None:
    model = ml.linear_model.Ridge().fit(X, Y)
    model.operation_backends_["fit"] = "moon"
    model.fallback_reasons_.clear()
    assert model.operation_backends_ == {"fit": "native"}
    assert model.fallback_reasons_["fit"]
    with pytest.raises(AttributeError):
        model.backend_ = "moon"


REFUSED = {
    "sparse": lambda: ml.linear_model.Ridge().fit(scipy.sparse.csr_array(X), Y),
    "svd": lambda: ml.linear_model.Ridge(solver="svd").fit(X, Y),
    "alpha=0": lambda: ml.linear_model.Ridge(alpha=0).fit(X, Y),
    "float16": lambda: ml.preprocessing.StandardScaler().fit(X.astype(np.float16)),
}


@pytest.mark.parametrize("word", list(REFUSED))
@pytest.mark.parametrize("policy", [None, "raise", "warn", "record"])
@pytest.mark.parametrize("backend", ["auto", "native", "gpu"], indirect=True)
def test_policy_of_fallback(backend: str, policy: str | None, word: str) -> None:
    strict = policy == "raise" or (policy is None and backend == "gpu")
    with ml.config_context(on_fallback=policy), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if strict:
            with pytest.raises(ml.BackendUnavailableError, match=word) as refusal:
                REFUSED[word]()
            assert "hint" in str(refusal.value)
            assert isinstance(refusal.value, RuntimeError)
        else:
            model = REFUSED[word]()
            assert model.backend_ == "cpu"
            assert word in model.fallback_reasons_["fit"]
    messages = [str(entry.message) for entry in caught if issubclass(entry.category, ml.FallbackWarning)]
    if policy == "warn":
        assert [word in message for message in messages] == [True]
        assert caught[0].filename == __file__
    else:
        assert messages == []


@pytest.mark.parametrize(
    "given", [(X64, Y64), (X.astype(np.int64), Y), (X64.tolist(), Y)], ids=["float64", "int64", "list"]
)
def test_float64_is_refused_by_a_strict_gpu_unless_float32_is_asked_for(gpu: str, given: tuple) -> None:
    with ml.config_context(backend="gpu"), pytest.raises(ml.BackendUnavailableError, match=r"float64.*float32"):
        ml.linear_model.Ridge().fit(*given)
    with ml.config_context(backend="gpu", on_fallback="record"):
        model = ml.linear_model.Ridge().fit(*given)
        assert model.backend_ == "native"
        assert "float64" in model.fallback_reasons_["fit"]
    with ml.config_context(backend="gpu", precision="float32"):
        model = ml.linear_model.Ridge().fit(*given)
        assert model.backend_ == f"{gpu}+native"
        assert model.coef_.dtype == np.float64
    with ml.config_context(backend="auto"):
        assert ml.linear_model.Ridge().fit(*given).backend_ == "native"


@pytest.mark.parametrize("backend", ["gpu"], indirect=True)
def test_a_method_follows_the_state_its_fit_left(backend: str) -> None:
    with ml.config_context(on_fallback="record"):
        model = ml.linear_model.Ridge(solver="svd").fit(X, Y)
    model.predict(X)
    assert model.backend_ == "cpu"
    assert model.operation_backends_["predict"] in GPU_VALUES
    theirs = sklearn.linear_model.Ridge(solver="svd").fit(X, Y)
    ours = ml.linear_model.Ridge()
    ours.__dict__.update(vars(theirs))
    assert ours.predict(X).shape == (128,)


@pytest.mark.parametrize("backend", ["metal", "dx12", "vulkan"])
def test_a_named_interface_runs_there_or_says_why_not(backend: str, gpu: str) -> None:
    with ml.config_context(backend=backend):
        if backend == gpu:
            assert ml.preprocessing.StandardScaler().fit(X).backend_ == backend
            return
        expected = ml.MetalUnavailableError if backend == "metal" else ml.BackendUnavailableError
        with pytest.raises(expected, match=backend) as refusal:
            ml.preprocessing.StandardScaler().fit(X)
        assert type(refusal.value) is expected


NO_DEVICE = """
    import numpy as np, metalml as ml
    X = np.random.default_rng(0).normal(size=(50_000, 100)).astype(np.float32)  # above every floor of `auto`
    model = ml.linear_model.Ridge().fit(X, X[:, 0])
    print(model.backend_, "|", model.fallback_reasons_["fit"].replace("\\n", " "))
    try:
        with ml.config_context(backend="gpu"):
            ml.linear_model.Ridge().fit(X[:200], X[:200, 0])
    except ml.BackendUnavailableError as error:
        print(error)
    with ml.config_context(backend="gpu", on_fallback="record"):
        print(ml.linear_model.Ridge().fit(X[:200], X[:200, 0]).fallback_reasons_["fit"])
    print(ml.backend_info())
"""
NO_LOADER = {"VK_DRIVER_FILES": "/nowhere/nothing.json", "VK_ICD_FILENAMES": "/nowhere/nothing.json"}


@pytest.mark.parametrize(
    ("variables", "word"),
    [(NO_LOADER, "Vulkan"), ({"METALML_DEVICE": "a card that nobody has"}, "a card that nobody has")],
    ids=["no driver", "METALML_DEVICE names nothing"],
)
def test_without_a_device_auto_works_and_a_strict_gpu_says_why(variables: dict[str, str], word: str) -> None:
    if word == "Vulkan" and run_python("import sys; print(sys.platform)") == "darwin":
        pytest.skip("on macOS the GPU is reached through Metal, which needs no loader")
    first, *others = run_python(NO_DEVICE, **variables).splitlines()
    where, reason = first.split(" | ")
    assert where == "native"
    assert word in reason
    assert reason in " ".join(others), "strict refuses with the same reason"


def test_auto_never_takes_a_software_adapter(gpu: str) -> None:
    first, *_ = run_python(NO_DEVICE, METALML_DEVICE="software").splitlines()
    assert first.startswith("native | ")
    assert "software" in first


def test_backend_info_tells_what_is_there_and_in_use(gpu: str) -> None:
    with ml.config_context(backend="gpu"):
        ml.preprocessing.StandardScaler().fit(X)
    info = ml.backend_info()
    text = str(info).lower()
    for word in (gpu, "memory", "limit", "self", "calibrat"):
        assert word in text, f"{word!r} not in:\n{info}"


@pytest.mark.parametrize("damage", ["corrupt", "unwritable"])
def test_a_damaged_cache_of_self_tests_is_tolerated(gpu: str, damage: str, tmp_path: object) -> None:
    code = """
        import numpy as np, metalml as ml
        ml.set_config(backend="gpu")
        X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
        print(ml.linear_model.Ridge().fit(X, X[:, 0]).backend_)
    """
    folder = tmp_path / "cache"
    if damage == "corrupt":
        run_python(code, METALML_CACHE_DIR=str(folder))
        for file in folder.rglob("*"):
            if file.is_file():
                file.write_bytes(b"\x00{not what was written")
    else:
        folder.write_text("a file where the folder should be")
    assert run_python(code, METALML_CACHE_DIR=str(folder)) == f"{gpu}+native"
