"""Add up the closing lines of test runners in a log and print `N passed, N failed[, N skipped]`.

python tools/count_tests.py LOG
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# cargo test, cargo nextest, pytest: the line that each of them closes with.
CLOSING = (
    re.compile(r"^\s*test result: \w+\. (?P<counts>.*?); finished in"),
    re.compile(r"^\s*Summary \[.*?\] .*?tests? run: (?P<counts>.*)$"),
    re.compile(
        r"^=* ?(?P<counts>\d+ (?:passed|failed|skipped|error|xfailed|xpassed|warning|deselected).*?) in [\d.]+s"
    ),
)
MEANING = {
    "passed": "passed",
    "xfailed": "passed",
    "failed": "failed",
    "error": "failed",
    "errors": "failed",
    "timed": "failed",
    "exec": "failed",
    "skipped": "skipped",
    "ignored": "skipped",
}


def count(log: str) -> Counter[str]:
    """Return how many tests passed, failed and were skipped in all the runs of a log."""
    total: Counter[str] = Counter()
    for line in COLOUR.sub("", log).splitlines():
        for pattern in CLOSING:
            if found := pattern.match(line):
                # nextest says how many of the passed were slow, in brackets.
                counts = re.sub(r"\(.*?\)", "", found["counts"])
                for number, word in re.findall(r"(\d+) (\w+)", counts):
                    if word in MEANING:
                        total[MEANING[word]] += int(number)
    return total


def closing_line(total: Counter[str]) -> str:
    """Return the one line that says it all."""
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    return f"{total['passed']} passed, {total['failed']} failed{skipped}"


if __name__ == "__main__":
    sys.stdout.write(closing_line(count(Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace"))) + "\n")
