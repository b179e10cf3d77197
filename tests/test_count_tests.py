"""The last line of a CI run, from the closing lines of every runner in use."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).resolve().parent.parent / "tools" / "count_tests.py"))
LINES = {
    "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.02s": (12, 0, 1),
    "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s": (3, 2, 0),
    "     Summary [   0.010s] 3 tests run: 3 passed (1 slow), 1 skipped": (3, 0, 1),
    "     Summary [  10.010s] 1 test run: 0 passed, 1 timed out, 0 skipped": (0, 1, 0),
    "\x1b[32;1m     Summary\x1b[0m [   0.010s] 4 tests run: 3 passed, 1 failed, 0 skipped": (3, 1, 0),
    "========= 3 failed, 25 passed, 1 skipped, 2 xfailed, 1 error in 1.20s =========": (27, 4, 1),
    "25 passed, 2 warnings in 61.20s (0:01:01)": (25, 0, 0),
    "we passed 3 tests in 2s": (0, 0, 0),
}


@pytest.mark.parametrize("line", LINES)
def test_each_runner(line: str) -> None:
    total = TOOL["count"](line)
    assert (total["passed"], total["failed"], total["skipped"]) == LINES[line]


def test_runs_add_up() -> None:
    assert TOOL["closing_line"](TOOL["count"]("\n".join(LINES))) == "73 passed, 8 failed, 3 skipped"
    assert TOOL["closing_line"](TOOL["count"]("")) == "0 passed, 0 failed"
