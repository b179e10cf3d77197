"""The main job, shown: StandardScaler and Ridge on real and made data, on every engine, beside scikit-learn.

python tools/demo.py
"""

from __future__ import annotations

import statistics
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sklearn
from sklearn.datasets import load_diabetes

import metalml as ml

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH = 112
N_CALLS = 5
LINE = "{:<5}{:<26}{:<15}{:<18}{:>11}  {:>12}   {:<20}"
HEAD = LINE.format("step", "operation", "asked for", "where it ran", "time", "difference", "why not the GPU").rstrip()
CONFIGURATIONS = {
    "scikit-learn": {"backend": "cpu"},
    "auto": {"backend": "auto"},
    "native engine": {"backend": "native"},
    "GPU, strictly": {"backend": "gpu"},
}
# Largest difference that is rounding: of float32 with room for the sums, and of float64.
ROUNDING = {"float32": 1e-4, "float64": 1e-10}


class Outcome(NamedTuple):
    """One operation under one configuration."""

    where: str
    reason: str | None
    seconds: float | None
    result: np.ndarray | None


class Operation(NamedTuple):
    """What a user would write, and the numbers that are compared."""

    name: str
    call: Callable[[Any, np.ndarray, np.ndarray], object]
    estimator: str
    method: str
    values: Callable[[Any, Any], np.ndarray]


OPERATIONS = [
    Operation(
        "StandardScaler.fit", lambda m, X, _: m.fit(X), "scaler", "fit", lambda m, _: np.stack([m.mean_, m.scale_])
    ),
    Operation(
        "StandardScaler.transform", lambda m, X, _: m.transform(X), "scaler", "transform", lambda _, result: result
    ),
    Operation("Ridge.fit", lambda m, X, y: m.fit(X, y), "ridge", "fit", lambda m, _: m.coef_),
    Operation("Ridge.predict", lambda m, X, _: m.predict(X), "ridge", "predict", lambda _, result: result),
]


class Notes:
    """Reasons, numbered in the order they come up."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def mark(self, text: str | None) -> str:
        """Return where the reader finds the text."""
        if text is None:
            return "it ran there"
        if text not in self.texts:
            self.texts.append(text)
        return f"note {self.texts.index(text) + 1}"

    def show(self) -> None:
        """Print all of them, wrapped."""
        for number, text in enumerate(self.texts, 1):
            lines = [part for line in text.splitlines() for part in textwrap.wrap(line, WIDTH - 10)]
            print(f"  note {number:<3}" + f"\n{' ' * 10}".join(lines))


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return real data that ship with scikit-learn, and the example of the README."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(5000, 32))
    measured, progression = load_diabetes(return_X_y=True, scaled=False)
    return {
        "diabetes (442 patients x 10 measurements)": (np.asarray(measured), np.asarray(progression)),
        "the example (5,000 rows x 32 columns, made)": (X, X[:, 0] * 3 - X[:, 1]),
    }


def in_words(seconds: float | None) -> str:
    """Return a time with its unit."""
    if seconds is None:
        return "-"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"


def difference(found: np.ndarray, exact: np.ndarray) -> float:
    """Return the largest difference, as a share of the largest value."""
    return float(np.max(np.abs(np.asarray(found, dtype=np.float64) - exact)) / np.max(np.abs(exact)))


def run(operation: Operation, models: dict[str, Any], X: np.ndarray, y: np.ndarray) -> Outcome:
    """Run one operation a few times under the active configuration."""
    model = models[operation.estimator]
    try:
        result = operation.call(model, X, y)
        times = []
        for _ in range(N_CALLS):
            begin = time.perf_counter()
            result = operation.call(model, X, y)
            times.append(time.perf_counter() - begin)
    except ml.BackendUnavailableError as refusal:
        return Outcome("refused", str(refusal).partition("`: ")[2].partition("\n")[0] or str(refusal), None, None)
    reason = model.fallback_reasons_[operation.method]
    where = model.operation_backends_[operation.method]
    return Outcome(where, reason, statistics.median(times), operation.values(model, result))


def steps(X: np.ndarray, y: np.ndarray) -> dict[str, list[Outcome]]:
    """Run the four operations under every configuration; a refused fit is replaced, so that the next step can run."""
    outcomes = {}
    for name, options in CONFIGURATIONS.items():
        with ml.config_context(**options):
            models = {"scaler": ml.preprocessing.StandardScaler(), "ridge": ml.linear_model.Ridge(alpha=1.0)}
            outcomes[name] = []
            for operation in OPERATIONS:
                outcomes[name].append(run(operation, models, X, y))
                if outcomes[name][-1].where == "refused" and operation.method == "fit":
                    with ml.config_context(backend="native"):
                        operation.call(models[operation.estimator], X, y)
    return outcomes


def show(title: str, X: np.ndarray, y: np.ndarray, notes: Notes, first_step: int) -> tuple[int, list[str]]:
    """Print one table; return the number of the next step and what is wrong."""
    exact = [outcome.result for outcome in steps(X.astype(np.float64), y.astype(np.float64))["scikit-learn"]]
    wrong, step = [], first_step
    for dtype in ("float32", "float64"):
        outcomes = steps(X.astype(dtype), y.astype(dtype))
        print(f"\n{title}, {dtype}\n{HEAD}\n{'-' * WIDTH}")
        for position, operation in enumerate(OPERATIONS):
            for row, (name, own) in enumerate(outcomes.items()):
                where, reason, seconds, result = own[position]
                right = exact[position]
                off = None if result is None or right is None else difference(result, right)
                why = "" if name == "scikit-learn" else notes.mark(reason)
                shown = "-" if off is None else "none" if off == 0 else f"{off:.1e}"
                first = (str(step), operation.name) if row == 0 else ("", "")
                ran = "scikit-learn" if where == "cpu" else where
                print(LINE.format(*first, name, ran, in_words(seconds), shown, why).rstrip())
                if where not in {"cpu", "refused"} and not (off is not None and off <= ROUNDING[dtype]):
                    wrong.append(f"{title}, {dtype}, {operation.name}, {name}: off by {shown}")
            step += 1
    return step, wrong


def search() -> str:
    """Run the search of the example, in two worker processes, and say what came out."""
    X, y = (part.astype(np.float32) for part in list(data_sets().values())[-1])
    pipe = ml.pipeline.make_pipeline(ml.preprocessing.StandardScaler(), ml.linear_model.Ridge()).fit(X, y)
    grid = {"ridge__alpha": [0.1, 1, 10]}
    begin = time.perf_counter()
    found = ml.model_selection.GridSearchCV(pipe, grid, cv=3, n_jobs=2).fit(X, y)
    where = found.best_estimator_[-1].operation_backends_["fit"]
    seconds = time.perf_counter() - begin
    best = found.best_params_["ridge__alpha"]
    return f"grid search of 3 penalties x 3 folds in 2 processes: best alpha {best}, fitted on {where}, {seconds:.1f} s"


def main() -> int:
    """Print the tables, the reasons and what to do next; return 1 if an answer is wrong."""
    print(f"metalml {ml.__version__} beside scikit-learn {sklearn.__version__}\n")
    notes, step, wrong = Notes(), 1, []
    for title, (X, y) in data_sets().items():
        step, found = show(title, X, y, notes, step)
        wrong += found
    print(f"\nstep {step}: {search()}\n")
    print("How to read it")
    print(f"  time        median of {N_CALLS} calls after a first one, which loads the device and its kernels")
    print("  difference  largest one from scikit-learn in float64, as a share of the largest value")
    print(
        '  refused     `backend="gpu"` is strict: it raises BackendUnavailableError rather than run elsewhere unasked\n'
    )
    if notes.texts:
        print("Why not the GPU")
        notes.show()
    print("\nThe machine")
    print(textwrap.indent(str(ml.backend_info()), "  "))
    print("\nWhat to do next")
    print("  in your code: `import metalml as ml`, then `ml.linear_model.Ridge()` where you had scikit-learn's")
    print("  where did it run, and why: `model.operation_backends_`, `model.fallback_reasons_`, `ml.backend_info()`")
    print('  float64 data on the GPU: `with ml.config_context(precision="float32"): ...`')
    for problem in wrong:
        print(f"WRONG: {problem}", file=sys.stderr)
    print(
        f"\n{'every answer agrees with scikit-learn in float64 to rounding' if not wrong else 'SOME ANSWERS ARE WRONG'}"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
