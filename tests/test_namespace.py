"""The namespace: all of scikit-learn under our name, its own objects except ours; scikit-learn itself untouched."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest
import sklearn

import metalml as ml
from estimators import implemented
from interpreter import run_python

OURS = {(owner.__module__.split(".")[1], owner.__name__) for owner in implemented()}
OUR_OWN_NAMES = {"get_config", "set_config", "config_context"}
# `experimental` switches names on in scikit-learn when it is imported, which a test must not do to the others.
LEFT_OUT = {"externals", "tests", "conftest", "experimental"}


def public_modules() -> list[str]:
    """Return every public module of scikit-learn, without the `sklearn.` in front."""
    names = []
    for module in pkgutil.walk_packages(sklearn.__path__, "sklearn."):
        parts = module.name.split(".")[1:]
        if not LEFT_OUT.intersection(parts) and not any(part.startswith("_") for part in parts):
            names.append(".".join(parts))
    return names


MODULES = public_modules()


def is_reachable(module: object, name: str) -> bool:
    """Return whether a module has a name; those that `sklearn.experimental` switches on raise ImportError before."""
    try:
        return hasattr(module, name)
    except ImportError:
        return False


@pytest.mark.parametrize(("module", "name"), sorted(OURS))
def test_our_estimators_stand_where_those_of_scikit_learn_do(module: str, name: str) -> None:
    ours = getattr(importlib.import_module(f"metalml.{module}"), name)
    assert ours.__module__.startswith(f"metalml.{module}.")
    assert issubclass(ours, getattr(importlib.import_module(f"sklearn.{module}"), name))


def test_all_of_scikit_learn_was_found() -> None:
    assert {"linear_model", "metrics.pairwise", "utils.validation", "model_selection", "pipeline"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_the_object_of_scikit_learn(name: str) -> None:
    theirs, ours = importlib.import_module(f"sklearn.{name}"), importlib.import_module(f"metalml.{name}")
    public = {*getattr(theirs, "__all__", ()), *(entry for entry in vars(theirs) if not entry.startswith("_"))}
    assert public <= set(dir(ours))
    for entry in sorted(public):
        if not is_reachable(theirs, entry):
            assert not is_reachable(ours, entry)
            continue
        found, expected = getattr(ours, entry), getattr(theirs, entry)
        if (name.partition(".")[0], entry) in OURS and found is not expected:
            assert issubclass(found, expected)
            assert found.__name__ == entry
            assert found.__module__.startswith("metalml.")
        elif getattr(found, "__name__", "").startswith("metalml."):
            assert found.__name__ == expected.__name__.replace("sklearn", "metalml", 1)  # a submodule, mirrored
        else:
            assert found is expected, f"{name}.{entry}"


def test_top_level_names() -> None:
    for entry in [*sklearn.__all__, "clone", "show_versions", "base", "utils"]:
        if entry in OUR_OWN_NAMES:
            assert getattr(ml, entry) is not getattr(sklearn, entry)
        elif entry not in LEFT_OUT:
            found, expected = getattr(ml, entry), getattr(sklearn, entry)
            assert found is expected or found.__name__ == f"metalml.{entry}"
    assert set(sklearn.__all__) <= set(dir(ml))


@pytest.mark.parametrize(
    "statement",
    [
        "from metalml.linear_model import Ridge; assert Ridge.__module__.startswith('metalml')",
        "from metalml import linear_model; linear_model.Lasso",
        "import metalml.metrics.pairwise as p; p.euclidean_distances",
        "import metalml as ml; ml.metrics.pairwise.rbf_kernel; ml.ensemble.RandomForestClassifier",
        "from metalml.linear_model import *; assert Ridge.__module__.startswith('metalml'); Lasso",
        "from metalml.experimental import enable_iterative_imputer; from metalml.impute import IterativeImputer",
        "import metalml.datasets; metalml.datasets.load_diabetes()",
        "import metalml as ml; ml.config_context; ml.export; ml.explain; ml.FallbackWarning; ml.__version__",
    ],
)
def test_ways_to_import(statement: str) -> None:
    run_python(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "import metalml.nothing",
        "from metalml import nothing",
        "from metalml.linear_model import Nothing",
        "import metalml._base",
    ],
)
def test_what_does_not_exist_is_an_import_error(statement: str) -> None:
    assert (
        run_python(f"try:\n    {statement}\nexcept ImportError as error:\n    print('metalml' in str(error))") == "True"
    )


def test_missing_attribute_names_the_module() -> None:
    with pytest.raises(AttributeError, match=r"metalml\.linear_model.*Nothing"):
        ml.linear_model.Nothing  # noqa: B018


def test_scikit_learn_is_untouched() -> None:
    report = run_python(
        f"""
        import importlib, sys
        names = {MODULES!r}
        for name in names:
            importlib.import_module("sklearn." + name)

        def state():
            found = {{}}
            for name, module in list(sys.modules.items()):
                if name.split(".")[0] == "sklearn":
                    for key, value in list(vars(module).items()):
                        found[name, key] = id(value)
                        if isinstance(value, type) and value.__module__.split(".")[0] == "sklearn":
                            found.update({{(name, key, entry): id(part) for entry, part in vars(value).items()}})
            return found

        before, configuration = state(), sys.modules["sklearn"].get_config()
        import numpy as np
        import metalml as ml
        for name in names:
            module = importlib.import_module("metalml." + name)
            [getattr(module, entry) for entry in dir(module) if not entry.startswith("_")]
        X = np.eye(200, 3)
        for backend in ("native", "auto", "cpu"):
            with ml.config_context(backend=backend):
                ml.preprocessing.StandardScaler().fit(X).transform(X)
                ml.linear_model.Ridge().fit(X, X[:, 0]).predict(X)
        after = state()
        caches = {{"__doc__", "__abstractmethods__", "__slotnames__"}}
        changed = [key for key in before if after.get(key) != before[key]]
        modules = {{key[0] for key in before}}
        added = [key for key in after.keys() - before.keys() if key[-1] not in caches and key[0] in modules]
        print(changed, added, sys.modules["sklearn"].get_config() == configuration)
        """
    )
    assert report == "[] [] True"


IMPORTED = """
    import {module}
    {statement}
    maps = open("/proc/self/maps").read().lower()
    print("vulkan" in maps or "lvp" in maps)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="libraries in use are read from /proc")
def test_import_opens_no_device(gpu: str) -> None:
    scale = "metalml.preprocessing.StandardScaler().fit([[1.0], [2.0]])"
    used = f"metalml.linear_model.Ridge; metalml.get_config(); {scale}"
    assert run_python(IMPORTED.format(module="metalml", statement=used)) == "False"
    forced = f"metalml.set_config(backend='gpu', precision='float32'); {scale}"
    if gpu == "vulkan":  # the other half of the proof: a device would have been seen
        assert run_python(IMPORTED.format(module="metalml", statement=forced)) == "True"


def test_import_is_quiet() -> None:
    command = [sys.executable, "-W", "error", "-c", "import metalml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
