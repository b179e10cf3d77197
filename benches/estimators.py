"""Ridge and StandardScaler beside scikit-learn (native engine) or PyTorch (GPU): medians of rounds taken in turn.

    python benches/estimators.py                   # the native engine, up to 200,000 x 50
    python benches/estimators.py --memory          # peak host memory of a fit beyond its input
    python benches/estimators.py --gpu             # 1,000,000 x 100 on the GPU, validation included, NumPy in and out
    python benches/estimators.py --gpu --memory

Errors are relative, in the 2-norm, against scikit-learn in float64 on the same values.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import sklearn
import sklearn.covariance
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.preprocessing

import metalml as ml
from side_by_side import calls_for, medians

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = [(100, 10), (1_000, 20), (10_000, 50), (200_000, 50)]
WANTED = {  # how many times as fast as scikit-learn, on 200,000 x 50
    ("StandardScaler.fit", "float32"): 3.0,
    ("StandardScaler.fit", "float64"): 2.0,
    ("StandardScaler.transform", "float32"): 3.0,
    ("StandardScaler.transform", "float64"): 2.0,
    ("Ridge.fit", "float32"): 1.2,
    ("Ridge.fit", "float64"): 1.2,
}
MIB = 1 << 20


class Work(NamedTuple):
    """One operation: how it is called for a namespace, and the values that are judged."""

    name: str
    prepare: Callable[[object, np.ndarray, np.ndarray], Callable[[], object]]
    values: Callable[[object], np.ndarray]


def _transform(space: object, X: np.ndarray, _: np.ndarray) -> Callable[[], object]:
    scaler = space.preprocessing.StandardScaler().fit(X)
    return lambda: scaler.transform(X)


def _predict(space: object, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    model = space.linear_model.Ridge().fit(X, y)
    return lambda: model.predict(X)


def _classify(space: object, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    few = X[:1000], (y[:1000] > np.median(y)).astype(int)
    model = space.linear_model.RidgeClassifier().fit(*few)
    return lambda: model.predict(X)


def _range(space: object, X: np.ndarray, _: np.ndarray) -> Callable[[], object]:
    scaler = space.preprocessing.MinMaxScaler().fit(X)
    return lambda: scaler.transform(X)


def _normalize(space: object, X: np.ndarray, _: np.ndarray) -> Callable[[], object]:
    scaler = space.preprocessing.Normalizer().fit(X)
    return lambda: scaler.transform(X)


def _bayes(space: object, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    model = space.naive_bayes.GaussianNB().fit(X, _classes(y))
    return lambda: model.predict_joint_log_proba(X)


def _classes(y: np.ndarray) -> np.ndarray:
    return np.digitize(y, np.quantile(y, np.linspace(0, 1, 11)[1:-1]))


def _learn_bayes(space: object, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    labels = _classes(y)
    return lambda: space.naive_bayes.GaussianNB().fit(X, labels)


def _learn_counts(space: object, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    labels, counts = _classes(y), np.abs(X)
    return lambda: space.naive_bayes.MultinomialNB().fit(counts, labels)


def _count(space: object, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    counts = np.abs(X)
    model = space.naive_bayes.MultinomialNB().fit(counts, _classes(y))
    return lambda: model.predict_joint_log_proba(counts)


WORKS = [
    Work(
        "StandardScaler.fit", lambda space, X, _: lambda: space.preprocessing.StandardScaler().fit(X), lambda m: m.var_
    ),
    Work("StandardScaler.transform", _transform, lambda Z: Z),
    Work("Ridge.fit", lambda space, X, y: lambda: space.linear_model.Ridge().fit(X, y), lambda m: m.coef_),
    Work("Ridge.predict", _predict, lambda p: p),
    Work(
        "LinearRegression.fit",
        lambda space, X, y: lambda: space.linear_model.LinearRegression().fit(X, y),
        lambda m: m.coef_,
    ),
    Work(
        "Lasso.fit",
        lambda space, X, y: lambda: space.linear_model.Lasso(alpha=0.1).fit(X, y),
        lambda m: m.coef_,
    ),
    Work("RidgeClassifier.predict", _classify, lambda p: p),
    Work(
        "MinMaxScaler.fit", lambda space, X, _: lambda: space.preprocessing.MinMaxScaler().fit(X), lambda m: m.data_max_
    ),
    Work("MinMaxScaler.transform", _range, lambda Z: Z),
    Work("Normalizer.transform", _normalize, lambda Z: Z),
    Work(
        "EmpiricalCovariance.fit",
        lambda space, X, _: lambda: space.covariance.EmpiricalCovariance().fit(X),
        lambda m: m.covariance_,
    ),
    Work("LedoitWolf.fit", lambda space, X, _: lambda: space.covariance.LedoitWolf().fit(X), lambda m: m.covariance_),
    Work("GaussianNB.fit", _learn_bayes, lambda m: m.var_),
    Work("GaussianNB.predict_joint_log_proba", _bayes, lambda p: p),
    Work("MultinomialNB.fit", _learn_counts, lambda m: m.feature_log_prob_),
    Work("MultinomialNB.predict_joint_log_proba", _count, lambda p: p),
    Work("OAS.fit", lambda space, X, _: lambda: space.covariance.OAS().fit(X), lambda m: m.covariance_),
]


def make(n_rows: int, n_columns: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return data with an offset, and targets that are linear in them, with noise."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32) * 2 + 10
    y = X @ rng.normal(size=n_columns).astype(np.float32) + rng.standard_normal(n_rows, dtype=np.float32)
    return X.astype(dtype), y.astype(dtype)


def error(found: np.ndarray, exact: np.ndarray) -> float:
    """Return the relative error in the 2-norm."""
    return float(np.linalg.norm(np.asarray(found, dtype=np.float64) - exact) / np.linalg.norm(exact))


def native(sizes: list[tuple[int, int]], n_rounds: int) -> int:
    """Compare the native engine with scikit-learn; return how many wishes were missed."""
    missed = 0
    columns = f"{'scikit-learn':>14}{'native':>12}{'times':>8}{'error':>11}{'its error':>11}"
    print(f"{'operation':<38}{'rows x columns':>16}{'dtype':>9}{columns}")
    for n_rows, n_columns in sizes:
        for dtype in ("float32", "float64"):
            X, y = make(n_rows, n_columns, dtype)
            for work in WORKS:
                ours, theirs = work.prepare(ml, X, y), work.prepare(sklearn, X, y)
                with ml.config_context(backend="native"):
                    ours_s, theirs_s = medians(ours, theirs, n_rounds=n_rounds, n_calls=calls_for(theirs))
                    found = work.values(ours())
                exact = np.asarray(work.values(work.prepare(sklearn, X.astype(np.float64), y.astype(np.float64))()))
                ratio = theirs_s / ours_s
                least = WANTED.get((work.name, dtype), 1.0) if (n_rows, n_columns) == SIZES[-1] else 1.0
                missed += ratio < least
                verdict = "" if ratio >= least else f"   wanted: {least:.1f}"
                size, their_error = f"{n_rows:,} x {n_columns}", error(work.values(theirs()), exact)
                times = f"{theirs_s * 1e3:>11.3f} ms{ours_s * 1e3:>9.3f} ms{ratio:>8.2f}"
                errors = f"{error(found, exact):>11.1e}{their_error:>11.1e}"
                print(f"{work.name:<38}{size:>16}{dtype:>9}{times}{errors}{verdict}")
    return missed


def torch_ridge(X: np.ndarray, y: np.ndarray) -> Callable[[], object] | None:
    """Return the normal equations in PyTorch, copy and centring included; `None` without PyTorch or its GPU."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = False

    def fit() -> np.ndarray:
        x, t = torch.from_numpy(X).cuda(), torch.from_numpy(y).cuda()
        x, t = x - x.mean(0), t - t.mean()
        gram = x.T @ x
        gram.diagonal().add_(1.0)
        return torch.cholesky_solve((x.T @ t)[:, None], torch.linalg.cholesky(gram))[:, 0].cpu().numpy()

    return fit


def on_gpu(n_rows: int, n_columns: int, n_rounds: int) -> None:
    """Print the times of the forced GPU, beside PyTorch where it is installed."""
    X, y = make(n_rows, n_columns, "float32")
    ml.set_config(backend="gpu")
    begin = time.perf_counter()
    fitted = ml.linear_model.Ridge().fit(X, y)
    first = time.perf_counter() - begin
    print(ml.backend_info())
    print(
        f"\n{n_rows:,} x {n_columns} float32, {X.nbytes / 1e6:.0f} MB; first fit, device and pipelines: {first:.2f} s"
    )
    calls = {work.name: work.prepare(ml, X, y) for work in WORKS}
    other = torch_ridge(X, y)
    if other is not None:
        calls["PyTorch, normal equations"] = other
    else:
        print("PyTorch with a GPU is not installed: no line for it")
    works = {work.name: work for work in WORKS}
    for name, own in zip(calls, medians(*calls.values(), n_rounds=n_rounds), strict=True):
        line = f"{name:<40}{own * 1e3:>10.2f} ms{X.nbytes / own / 1e9:>9.1f} GB/s of input"
        if name in works:
            # Too slow for rounds: one call, in the same run.
            theirs = works[name].prepare(sklearn, X, y)
            begin = time.perf_counter()
            there = works[name].values(theirs())
            times = (time.perf_counter() - begin) / own
            apart = error(works[name].values(calls[name]()), np.asarray(there, dtype=np.float64))
            line += f"{times:>8.1f} times scikit-learn, {apart:.1e} from it"
        print(line)
    exact = sklearn.linear_model.Ridge().fit(X.astype(np.float64), y.astype(np.float64)).coef_
    print(f"Ridge.fit, error of coef_: {error(fitted.coef_, exact):.1e}, where it ran: {fitted.backend_}")
    if other is not None:
        print(f"PyTorch, error of its answer: {error(other(), exact):.1e}")


PEAK = """
import resource, sys
import numpy as np
import metalml as ml
ml.set_config(backend={backend!r})
estimator = ml.{estimator}()
small = np.random.default_rng(0).standard_normal((256, {n_columns})).astype({dtype!r})
estimator.fit(small, small[:, 0])  # device, pipelines, thread pools and imports are paid for
X = np.random.default_rng(1).standard_normal(({n_rows}, {n_columns}), dtype={dtype!r})
y = X[:, 0].copy()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
estimator.fit(X, y)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit = 1 if sys.platform == "darwin" else 1024
print((after - before) * unit)
"""


def memory(backend: str, n_rows: int, n_columns: int) -> int:
    """Print the peak memory of a fit beyond its input, each in its own process; return how many are over the limit."""
    limit, over = (320 if backend == "gpu" else 64), 0
    for dtype in ("float32",) if backend == "gpu" else ("float32", "float64"):
        for estimator in ("preprocessing.StandardScaler", "linear_model.Ridge"):
            code = PEAK.format(backend=backend, estimator=estimator, n_rows=n_rows, n_columns=n_columns, dtype=dtype)
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            peak = int(done.stdout) / MIB
            over += peak > limit
            verdict = "yes" if peak <= limit else "NO"
            size = f"{n_rows:,} x {n_columns} {dtype}"
            print(f"{backend:<8}{estimator:<32}{size:<26}{peak:>8.1f} MiB   at most {limit}: {verdict}")
    return over


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true", help="measure the forced GPU")
    parser.add_argument("--memory", action="store_true", help="measure peak host memory")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--columns", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    n_rows = options.rows or (1_000_000 if options.gpu else 200_000)
    n_columns = options.columns or (100 if options.gpu else 50)
    versions = f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, metalml {ml.__version__}"
    print(f"{platform.platform()}; {versions}\n")
    if options.memory:
        return memory("gpu" if options.gpu else "native", n_rows, n_columns)
    if options.gpu:
        on_gpu(n_rows, n_columns, options.rounds)
        return 0
    sizes = [(n_rows, n_columns)] if options.rows or options.columns else SIZES
    return 1 if native(sizes, options.rounds) else 0


if __name__ == "__main__":
    sys.exit(main())
