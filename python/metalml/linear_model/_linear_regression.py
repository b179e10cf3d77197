"""Least squares: the Gram matrix on an engine, the system solved in float64, and improved by residuals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn import linear_model

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated, aligned
from metalml._compat import checked_weights, fit_context, validated_pair
from metalml._documentation import on_the_gpu
from metalml._support import LeaveToScikitLearnError, Rule
from metalml.linear_model._response import SPARSE_FORMATS, predict_of, raise_like_scikit_learn
from metalml.linear_model._targets import as_columns

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self


class LinearRegression(Accelerated, linear_model.LinearRegression):
    __doc__ = on_the_gpu(
        linear_model.LinearRegression,
        """
        `fit` runs for dense data with more rows than columns. The Gram matrix of the centred data is made on the GPU
        (float32) or on the native engine (float32, float64); the system is solved in float64, and its answer improved
        by the residuals of the rows until it is as good as one that never squares the condition of the data. Columns
        that depend on each other are left to scikit-learn, which finds the answer of least norm. `predict` runs
        wherever the data are.
        """,
    )

    @accelerated(
        linear_model.LinearRegression,
        Rule(lambda est, _: not est.positive, "`positive=True` runs in scikit-learn"),
        is_fit=True,
    )
    @fit_context
    def fit(
        self, run: Run, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | float | None = None
    ) -> Self:
        x, targets = validated_pair(
            self,
            X,
            y,
            accept_sparse=False if self.positive else SPARSE_FORMATS,
            dtype=[np.float64, np.float32, np.float16],
            ensure_all_finite=False,
            multi_output=True,
            y_numeric=True,
        )
        run.leave_sparse(x)
        weights = checked_weights(sample_weight, x, estimator=self)
        if x.dtype == np.float16:
            msg = "float16 data run in scikit-learn, which keeps their type"
            raise LeaveToScikitLearnError(msg)
        if weights is not None and not run.is_refused and not (np.all(weights >= 0) and np.any(weights > 0)):
            msg = "sample weights below 0, or all 0, run in scikit-learn"
            raise LeaveToScikitLearnError(msg, is_error=True)
        is_vector = targets.ndim == 1
        columns = as_columns(targets, x.dtype)
        device = run.place("least_squares_fit", self, x, n_targets=columns.shape[1], solves_on_host=True)
        if len(x) <= x.shape[1]:
            msg = f"{len(x)} rows and {x.shape[1]} columns: scikit-learn finds the answer of least norm"
            raise LeaveToScikitLearnError(msg)
        try:
            coef, intercept, singular = _core.least_squares_fit(
                aligned(x), aligned(columns), weights, bool(self.fit_intercept), device
            )
        except _core.NonFiniteError as error:
            raise_like_scikit_learn(self, error, x)
        self.coef_ = coef[0] if is_vector else coef
        if self.fit_intercept:
            self.intercept_ = cast("Any", intercept[0] if is_vector else intercept)
        else:
            self.intercept_ = 0.0
        self.rank_ = x.shape[1]
        self.singular_ = singular
        return self

    predict = predict_of(linear_model.LinearRegression)
