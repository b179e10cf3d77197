"""The contract of types: the set of fitted attributes, and the dtype of each and of every result, as in scikit-learn.

The table is made by running scikit-learn (`contract/make_dtypes.py`), and holds whatever the engine.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

CONTRACT = Path(__file__).with_name("contract")
sys.path.insert(0, str(CONTRACT))

from make_dtypes import RELEASE, TABLE, observe  # noqa: E402


@pytest.fixture(scope="module")
def table() -> dict[str, dict[str, str]]:
    tables = json.loads(TABLE.read_text())
    assert RELEASE in tables, f"no table for scikit-learn {RELEASE}; run tests/contract/make_dtypes.py"
    return tables[RELEASE]


def test_table_is_what_scikit_learn_gives(table: dict[str, dict[str, str]]) -> None:
    assert observe("sklearn") == table, "run tests/contract/make_dtypes.py"


def test_types_and_attributes_are_those_of_scikit_learn(backend: str, table: dict[str, dict[str, str]]) -> None:
    ours = observe("metalml") if backend != "gpu" else observe_on_gpu()
    wrong = {
        case: {
            key: (ours[case].get(key), row.get(key))
            for key in {*row, *ours[case]}
            if ours[case].get(key) != row.get(key)
        }
        for case, row in table.items()
    }
    wrong = {case: row for case, row in wrong.items() if row}
    assert not wrong, f"(ours, scikit-learn's): {json.dumps(wrong, indent=1)}"


def observe_on_gpu() -> dict[str, dict[str, str]]:
    """Run on the GPU what can be, with the rest (other solvers, float16) in scikit-learn."""
    import metalml as ml

    with ml.config_context(on_fallback="record"):
        return observe("metalml")
