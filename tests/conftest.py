"""Fixtures: the configurations that every behaviour is tested under, and the rule for machines without a GPU.

A forced GPU (`backend="gpu"`) takes a software adapter when there is no other, so the GPU tests run everywhere. A
machine without any adapter fails them, unless `METALML_TESTS_WITHOUT_GPU=1` says that this is meant.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

import metalml as ml

if TYPE_CHECKING:
    from collections.abc import Iterator

# The tests choose the configuration, which is read at the first call. Only the adapter is the caller's choice.
for variable in ("METALML_BACKEND", "METALML_PRECISION", "METALML_ON_FALLBACK"):
    os.environ.pop(variable, None)

WITHOUT_GPU = os.environ.get("METALML_TESTS_WITHOUT_GPU") == "1"

CONFIGURATIONS: dict[str, dict[str, str]] = {
    "auto": {},
    "cpu": {"backend": "cpu"},
    "native": {"backend": "native"},
    "gpu": {"backend": "gpu", "precision": "float32"},
}


@pytest.fixture(scope="session")
def gpu() -> str:
    """Return the GPU's interface; skip or fail the test where no adapter can be opened."""
    X = np.eye(4, dtype=np.float32)
    try:
        with ml.config_context(backend="gpu"):
            fitted = ml.preprocessing.StandardScaler().fit(X)
    except ml.BackendUnavailableError as error:
        if WITHOUT_GPU:
            pytest.skip(f"METALML_TESTS_WITHOUT_GPU=1, and no adapter: {error}")
        pytest.fail(f"the GPU tests need an adapter (a software one will do), or METALML_TESTS_WITHOUT_GPU=1: {error}")
    return fitted.backend_


@pytest.fixture(params=list(CONFIGURATIONS))
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the test inside one configuration; `indirect=True` picks some of them."""
    if request.param == "gpu":
        request.getfixturevalue("gpu")
    with ml.config_context(**CONFIGURATIONS[request.param]):
        yield request.param


@pytest.fixture(autouse=True)
def _configuration_is_left_alone() -> Iterator[None]:
    before = ml.get_config()
    yield
    after = ml.get_config()
    ml.set_config(**before)
    assert after == before
