"""What dispatch costs when a call goes to scikit-learn: microseconds beyond scikit-learn's own call.

The work itself is taken away: scikit-learn's methods are replaced, in this process, by ones that do nothing, and the
difference between calling ours and calling theirs is dispatch alone. A second table shows whole calls, for scale.

    python benches/overhead.py
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import scipy.sparse
import sklearn.linear_model
import sklearn.preprocessing

from side_by_side import medians

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL, BIG = 64, 5000
LIMITS = {"below the floor": 2.0, "above the floor": 20.0}
N_CALLS, N_ROUNDS = 2000, 31


def idle(self: object, X: object, *_: object, **__: object) -> object:  # noqa: ARG001
    """Stand in for a method of scikit-learn."""
    return self


def report(
    title: str, ours: Callable[[], object], theirs: Callable[[], object], limit: float | None, n_calls: int
) -> bool:
    """Print one line; return whether the limit is kept."""
    mine, plain = medians(ours, theirs, n_rounds=N_ROUNDS, n_calls=n_calls)
    extra = (mine - plain) * 1e6
    verdict = "" if limit is None else f"   at most {limit:.0f}: {'yes' if extra <= limit else 'NO'}"
    print(f"{title:<58}{plain * 1e6:>12.2f}{mine * 1e6:>12.2f}{extra:>10.2f}{verdict}")
    return limit is None or extra <= limit


def main() -> int:
    """Print both tables; return 1 if a limit is broken."""
    rng = np.random.default_rng(0)
    small, big = rng.normal(size=(SMALL, 8)), rng.normal(size=(BIG, 8))
    sparse = scipy.sparse.csr_array(big)
    kept = []
    print(f"{'dispatch alone, us':<58}{'scikit-learn':>12}{'metalml':>12}{'extra':>10}")
    theirs_ridge, theirs_scaler = sklearn.linear_model.Ridge, sklearn.preprocessing.StandardScaler
    with mock.patch.multiple(theirs_ridge, fit=idle, predict=idle), mock.patch.multiple(theirs_scaler, fit=idle):
        # Imported here: our methods keep the ones of scikit-learn that they find.
        import metalml as ml

        ours = {"auto": ml.linear_model.Ridge(), "svd": ml.linear_model.Ridge(solver="svd")}
        plain = {solver: theirs_ridge(solver=solver) for solver in ours}
        for model in (*ours.values(), *plain.values()):
            model.coef_, model.intercept_ = np.zeros(8), 0.0
        scaler, plain_scaler = ml.preprocessing.StandardScaler(with_mean=False), theirs_scaler(with_mean=False)
        y, y_big = small[:, 0], big[:, 0]
        table = [
            (
                "Ridge.fit, 64 rows",
                lambda: ours["auto"].fit(small, y),
                lambda: plain["auto"].fit(small, y),
                "below the floor",
            ),
            (
                "Ridge.predict, 64 rows",
                lambda: ours["auto"].predict(small),
                lambda: plain["auto"].predict(small),
                "below the floor",
            ),
            (
                "StandardScaler.fit, 64 rows",
                lambda: scaler.fit(small),
                lambda: plain_scaler.fit(small),
                "below the floor",
            ),
            (
                "Ridge(solver='svd').fit, 5000 rows",
                lambda: ours["svd"].fit(big, y_big),
                lambda: plain["svd"].fit(big, y_big),
                "above the floor",
            ),
            (
                "StandardScaler.fit, 5000 sparse rows",
                lambda: scaler.fit(sparse),
                lambda: plain_scaler.fit(sparse),
                "above the floor",
            ),
        ]
        for title, mine, theirs, where in table:
            kept.append(report(title, mine, theirs, LIMITS[where], N_CALLS))
        with ml.config_context(backend="cpu"):
            kept.append(
                report(
                    "Ridge.fit, 5000 rows, backend='cpu'", table[3][1], table[3][2], LIMITS["above the floor"], N_CALLS
                )
            )
    return 0 if all(kept) else 1


def whole_calls() -> None:
    """Print whole calls below the floor, in an interpreter where nothing was replaced."""
    import metalml as ml

    rng = np.random.default_rng(0)
    print(f"\n{'whole calls, us':<58}{'scikit-learn':>12}{'metalml':>12}{'extra':>10}")
    for n_rows in (1, SMALL, 99):
        X = rng.normal(size=(n_rows, 8))
        pairs = [(space.linear_model.Ridge(), space.preprocessing.StandardScaler()) for space in (ml, sklearn)]
        (ridge, scaler), (plain, plain_scaler) = pairs
        for title, mine, theirs in (
            (
                f"Ridge.fit, {n_rows} x 8",
                lambda r=ridge, X=X: r.fit(X, X[:, 0]),
                lambda r=plain, X=X: r.fit(X, X[:, 0]),
            ),
            (f"Ridge.predict, {n_rows} x 8", lambda r=ridge, X=X: r.predict(X), lambda r=plain, X=X: r.predict(X)),
            (f"StandardScaler.fit, {n_rows} x 8", lambda s=scaler, X=X: s.fit(X), lambda s=plain_scaler, X=X: s.fit(X)),
            (
                f"StandardScaler.transform, {n_rows} x 8",
                lambda s=scaler, X=X: s.transform(X),
                lambda s=plain_scaler, X=X: s.transform(X),
            ),
        ):
            report(title, mine, theirs, None, 20)


if __name__ == "__main__":
    if sys.argv[1:] == ["--whole"]:
        whole_calls()
    else:
        status = main()
        sys.stdout.flush()
        subprocess.run([sys.executable, __file__, "--whole"], check=True)
        sys.exit(status)
