"""Many threads at once, forked children, and worker processes: right answers, on a device of one's own."""

from __future__ import annotations

import multiprocessing
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest

import metalml as ml
from data import regression
from interpreter import run_python
from tolerance import assert_close

N_THREADS = 8
N_CALLS = 24


def work(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Fit and apply both estimators on data of the seed's own shape."""
    X, y = regression(100 + 37 * seed, 3 + seed % 5, dtype=np.float32, offset=float(seed), seed=seed)
    Z = ml.preprocessing.StandardScaler().fit(X).transform(X)
    model = ml.linear_model.Ridge().fit(X, y)
    assert model.backend_ != "cpu"
    return Z, model.predict(X)


@pytest.mark.parametrize("backend", ["auto", "native", "gpu"], indirect=True)
def test_threads_at_once_give_the_answers_of_one_thread(backend: str) -> None:
    alone = [work(seed) for seed in range(N_CALLS)]
    with ThreadPoolExecutor(N_THREADS) as pool:
        together = list(pool.map(work, range(N_CALLS)))
    for (Z, predictions), (expected_Z, expected) in zip(together, alone, strict=True):
        assert Z.tobytes() == expected_Z.tobytes()
        assert predictions.tobytes() == expected.tobytes()


@pytest.mark.parametrize("backend", ["native", "gpu"], indirect=True)
def test_threads_may_share_one_fitted_model(backend: str) -> None:
    X, y = regression(500, 6, dtype=np.float32)
    model, scaler = ml.linear_model.Ridge().fit(X, y), ml.preprocessing.StandardScaler().fit(X)
    expected = model.predict(X), scaler.transform(X)
    with ThreadPoolExecutor(N_THREADS) as pool:
        results = list(pool.map(lambda _: (model.predict(X), scaler.transform(X)), range(N_CALLS)))
    for predictions, Z in results:
        np.testing.assert_array_equal(predictions, expected[0])
        np.testing.assert_array_equal(Z, expected[1])
    assert set(model.operation_backends_) == {"fit", "predict"}


def test_threads_may_open_the_first_device_at_once(gpu: str) -> None:
    where = run_python(
        """
        from concurrent.futures import ThreadPoolExecutor
        import numpy as np, metalml as ml
        ml.set_config(backend="gpu")
        X = np.arange(600, dtype=np.float32).reshape(200, 3)
        with ThreadPoolExecutor(8) as pool:
            fitted = list(pool.map(lambda _: ml.preprocessing.StandardScaler().fit(X), range(8)))
        print({scaler.backend_ for scaler in fitted}, len({scaler.mean_.tobytes() for scaler in fitted}) == 1)
        """
    )
    assert where == f"{{'{gpu}'}} True"


FORK = """
    import os, sys
    import numpy as np, metalml as ml
    ml.set_config(backend={backend!r}, on_fallback="record")
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    y = X @ np.arange(4, dtype=np.float32)
    if {parent_first}:
        before = ml.linear_model.Ridge().fit(X, y)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            model = ml.linear_model.Ridge().fit(X, y)
            Z = ml.preprocessing.StandardScaler().fit_transform(X)
            reason = model.fallback_reasons_["fit"]
            # On a device of its own, or elsewhere with the reason: never wrong, never stuck.
            c = X.astype(float) - X.mean(0, dtype=float)
            right = np.allclose(model.coef_, np.linalg.solve(c.T @ c + np.eye(4), c.T @ y), rtol=1e-4, atol=1e-5)
            right &= np.allclose(Z.std(0), 1, rtol=1e-4)
            named = {backend!r} == "native" or model.backend_ not in ("native", "cpu") or "fork" in reason
            status = 0 if right and named else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    after = ml.linear_model.Ridge().fit(X, y)
    print(os.waitstatus_to_exitcode(status), after.backend_)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("parent_first", [True, False], ids=["parent has a device", "child is first"])
@pytest.mark.parametrize("backend", ["native", "gpu"])
def test_a_forked_child_works(backend: str, parent_first: bool, gpu: str) -> None:
    where = f"{gpu}+native" if backend == "gpu" else "native"
    assert run_python(FORK.format(backend=backend, parent_first=parent_first)) == f"0 {where}"


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_multiprocessing_pools(start: str, gpu: str) -> None:
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {start}")
    result = run_python(
        f"""
        import multiprocessing, sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import metalml as ml, test_concurrency
        if __name__ == "__main__":
            ml.set_config(backend="gpu", on_fallback="record")
            mine = test_concurrency.work(3)[1]
            context = multiprocessing.get_context({start!r})
            with context.Pool(2) as pool:
                theirs = pool.map(test_concurrency.work, [3, 3])
            print(all(abs(found[1] - mine).max() < 1e-4 for found in theirs))
        """,
        METALML_BACKEND="native",
    )
    assert result == "True"


@pytest.mark.parametrize("backend", ["native", "gpu"], indirect=True)
def test_loky_workers(backend: str) -> None:
    X, y = regression(300, 4, dtype=np.float32)

    def fit(model: object) -> tuple[str, np.ndarray]:
        fitted = model.fit(X, y)
        return fitted.backend_, fitted.coef_

    here = fit(ml.linear_model.Ridge())
    with joblib.parallel_config(backend="loky", n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(fit)(ml.linear_model.Ridge()) for _ in range(3))
    for where, coef in found:
        assert where == here[0]
        assert_close(coef, here[1], np.float32)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C reaches a child of Windows in another way")
def test_an_interrupt_ends_a_long_call() -> None:
    code = """
        import _thread, signal, threading
        import numpy as np, metalml as ml
        # A process that was started in the background may be told to ignore the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        X = np.ones((400, 4), dtype=np.float32)
        ml.set_config(backend="native")
        threading.Timer(0.3, _thread.interrupt_main).start()
        try:
            while True:
                ml.linear_model.Ridge().fit(X, X[:, 0])
        except KeyboardInterrupt:
            print(ml.linear_model.Ridge().fit(X, X[:, 0]).backend_)
    """
    assert run_python(code) == "native"
