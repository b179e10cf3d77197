"""The native kernels beside what NumPy, SciPy and scikit-learn have for the same work: medians of pairs, and ratios.

python benches/native_kernels.py [WORD ...]        # only work whose name holds a word
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.extmath import row_norms

from side_by_side import seconds

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
N_ROUNDS = 7

# Work, sizes (rows, columns, and what the work has besides), and the gate: the least ratio of times.
WORK: list[tuple[str, tuple[int, int, int], float]] = [
    ("matmul", (1500, 1500, 1500), 0.9),
    ("matmul", (200_000, 50, 50), 0.9),
    ("matmul", (200_000, 50, 1), 0.9),
    ("gram", (200_000, 50, 0), 1.5),
    ("column_stats", (200_000, 50, 0), 1.5),
    ("row_norms", (200_000, 50, 0), 1.5),
    ("normalize", (200_000, 50, 0), 1.5),
    ("elementwise", (200_000, 50, 0), 1.5),
    ("nearest", (100_000, 16, 8), 1.5),
    ("nearest", (100_000, 50, 100), 1.5),
    ("nearest", (20_000, 128, 1024), 1.5),
    ("neighbours", (20_000, 50, 10), 1.5),
    ("neighbours", (20_000, 8, 32), 1.5),
    ("euclidean", (2_000, 50, 2_000), 1.5),
    ("manhattan", (2_000, 50, 2_000), 1.5),
    ("kernel_sums", (2_000, 8, 5_000), 1.5),
    ("segment_sums", (200_000, 50, 8), 1.5),
    ("segment_sums", (200_000, 50, 1000), 1.5),
    ("argsort", (1_000_000, 1, 0), 1.5),
    ("top_k", (20_000, 200, 10), 1.5),
    ("forest", (50_000, 20, 20), 1.5),
]


class Native:
    """The bench `native` of the Rust crate, which works on request."""

    def __init__(self) -> None:
        built = subprocess.run(
            ["cargo", "bench", "--locked", "-p", "metalml", "--bench", "native", "--no-run", "--message-format=json"],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
        )
        messages = [json.loads(line) for line in built.stdout.splitlines()]
        path = next(message["executable"] for message in messages if message.get("executable"))
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line: str) -> float:
        """Send a line; return the seconds that come back."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def counterpart(work: str, sizes: tuple[int, int, int], dtype: str) -> Callable[[], object]:
    """Return what a user of NumPy, SciPy and scikit-learn would call."""
    n, d, k = sizes
    random = np.random.default_rng(1)

    def matrix(rows: int, cols: int) -> np.ndarray:
        return random.uniform(-0.5, 0.5, size=(rows, cols)).astype(dtype)

    x = matrix(n, d)
    y = matrix(d if work == "matmul" else max(k, 1), k if work == "matmul" else d)
    labels = random.integers(0, max(k, 1), size=n)
    calls: dict[str, Callable[[], object]] = {
        "matmul": lambda: x @ y,
        "gram": lambda: (x - x[0]).T @ (x - x[0]),
        "column_stats": lambda: (x.mean(0), x.var(0), x.min(0), x.max(0)),
        "row_norms": lambda: row_norms(x, squared=True),
        "normalize": lambda: normalize(x),
        "elementwise": lambda: np.clip((x - 0.1) * 2 + 0.5, -1, 1),
        "nearest": lambda: pairwise_distances_argmin_min(x, y),
        "euclidean": lambda: euclidean_distances(x, y),
        "manhattan": lambda: manhattan_distances(x, y),
        "argsort": lambda: np.argsort(x[:, 0], kind="stable"),
        "top_k": lambda: np.take_along_axis(x, np.argpartition(x, k, axis=1)[:, :k], 1).sort(1),
    }
    if work == "neighbours":
        index, queries = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(x), matrix(n // 10, d)
        return lambda: index.kneighbors(queries)
    if work == "kernel_sums":
        return lambda: np.logaddexp.reduce(-2 * euclidean_distances(x, y, squared=True), axis=1)
    if work == "segment_sums":
        order = np.eye(k, dtype=dtype) if k <= 100 else None
        if order is not None:
            return lambda: order[labels].T @ x
        return lambda: [np.bincount(labels, weights=x[:, column], minlength=k) for column in range(d)]
    if work == "forest":
        targets = random.normal(size=n)
        trees = [DecisionTreeRegressor(max_depth=12, random_state=tree).fit(x, targets) for tree in range(k)]
        narrow = x.astype("float32")
        return lambda: sum(tree.tree_.predict(narrow) for tree in trees)
    return calls[work]


def settled(timed: Callable[[], float], at_least: float = 0.05) -> float:
    """Return the mean of calls that fill some time. First the other side falls asleep: threads of a BLAS spin."""
    time.sleep(0.15)
    timed()
    taken = [timed()]
    while sum(taken) < at_least:
        taken.append(timed())
    return statistics.mean(taken)


def main() -> int:
    """Print a line for each work and type; return 1 if a gate is missed."""
    words, native, missed = sys.argv[1:], Native(), 0
    print(f"{'work':<14}{'size':<20}{'type':<9}{'the other':>12}{'native':>12}{'times':>8}  gate")
    for work, sizes, gate in WORK:
        if words and not any(word in work for word in words):
            continue
        for dtype in ("float32", "float64"):
            call = counterpart(work, sizes, dtype)
            native.ask(f"{work} {dtype} {' '.join(map(str, sizes))}")
            sides = (partial(seconds, call), partial(native.ask, "run"))
            pairs = [[settled(side) for side in sides] for _ in range(N_ROUNDS)]
            other, ours = (statistics.median(side) * 1e3 for side in zip(*pairs, strict=True))
            times, size = other / ours, "x".join(map(str, sizes))
            missed += times < gate
            verdict = f"{gate}" if times >= gate else f"{gate} missed"
            print(f"{work:<14}{size:<20}{dtype:<9}{other:9.3f} ms{ours:9.3f} ms{times:8.2f}  {verdict}", flush=True)
    native.process.kill()
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
