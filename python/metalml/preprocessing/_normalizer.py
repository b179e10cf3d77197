"""Rows divided by their norms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn import preprocessing

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated
from metalml._compat import fit_context, validated
from metalml._documentation import on_the_gpu
from metalml._support import Decision, Rule
from metalml.preprocessing._columns import (
    DTYPES,
    NOT_HALF,
    leave_half_precision,
    raise_like_scikit_learn,
    where_to,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self


def _norm_is_known(est: Normalizer, _: object) -> bool:
    return est.norm in ("l1", "l2", "max")


class Normalizer(Accelerated, preprocessing.Normalizer):
    __doc__ = on_the_gpu(
        preprocessing.Normalizer,
        """
        `transform` runs for dense data: on the GPU in float32, on the native engine in float32 and float64. Norms are
        taken at the size of each row, so that rows of values of 1e25 or 1e-30 come out right. No GPU takes float64
        data, whatever `precision` says: their digits would be lost for nothing. `fit` only looks at the data, and does
        so in scikit-learn.
        """,
    )

    @accelerated(preprocessing.Normalizer, is_fit=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        x = validated(self, X, accept_sparse="csr")
        run.leave_sparse(x)
        if run.is_refused:
            run.refuse()
        run.decision = Decision("cpu", "`fit` only looks at the data: there is nothing to compute")
        return self

    @accelerated(
        preprocessing.Normalizer,
        Rule(_norm_is_known, "norm={norm!r} is not known", is_error=True),
        NOT_HALF,
    )
    def transform(self, run: Run, X: npt.ArrayLike, copy: bool | None = None) -> np.ndarray:
        x = validated(
            self, X, reset=False, accept_sparse="csr", dtype=DTYPES, force_writeable=False, ensure_all_finite=False
        )
        run.leave_sparse(x)
        device = run.place("normalize_rows", self, x, keeps_float64=True)
        leave_half_precision(x)
        x, out = where_to(x, in_place=not (self.copy if copy is None else copy))
        try:
            _core.normalize_rows(x, out, self.norm, device)
        except _core.NonFiniteError as error:
            raise_like_scikit_learn(self, error, x, allow_nan=False)
        return out
