"""Naive Bayes of counts: sums of columns by class, and likelihoods that are a linear map of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import naive_bayes
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_non_negative

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated, aligned
from metalml._compat import (
    checked_weights,
    fit_context,
    is_first_partial_fit,
    raise_if_not_finite,
    validated,
    validated_pair,
)
from metalml._documentation import on_the_gpu
from metalml._support import LeaveToScikitLearnError, Rule
from metalml.naive_bayes._classes import answers, labels_of, raise_like_scikit_learn

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self

_NOTE = """
    `fit`, `partial_fit` and the methods that predict run for dense data: on the GPU in float32, on the native engine in
    float32 and float64.
    """


def _state_is_finite(est: Any, _: object) -> bool:
    state = (est.feature_log_prob_, est.class_log_prior_)
    return all(type(value) is np.ndarray and np.isfinite(value).all() for value in state)


_FITTED = Rule(lambda est, _: hasattr(est, "feature_log_prob_"), "the model is not fitted", is_error=True)
_FINITE = Rule(_state_is_finite, "a class or a column was never seen: scikit-learn's arithmetic decides")


def _fit(est: Any, run: Run, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None) -> Any:
    x, targets = validated_pair(est, X, y, accept_sparse="csr", ensure_all_finite=False)
    run.leave_sparse(x)
    if type_of_target(targets) not in ("binary", "multiclass"):
        msg = "targets that are not classes"
        raise LeaveToScikitLearnError(msg, is_error=True)
    classes = np.unique(targets)
    sums = _sums(est, run, x, labels_of(targets, classes), len(classes), sample_weight)
    est.classes_ = classes
    return _count(est, sums, is_first=True)


def _partial_fit(
    est: Any,
    run: Run,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    classes: npt.ArrayLike | None,
    sample_weight: npt.ArrayLike | None,
) -> Any:
    x, targets = validated_pair(
        est, X, y, accept_sparse="csr", reset=not hasattr(est, "classes_"), ensure_all_finite=False
    )
    run.leave_sparse(x)
    is_first = is_first_partial_fit(est, classes)
    labels = labels_of(targets, est.classes_)
    return _count(est, _sums(est, run, x, labels, len(est.classes_), sample_weight), is_first=is_first)


def _sums(
    est: Any, run: Run, x: np.ndarray, labels: np.ndarray, n_classes: int, sample_weight: npt.ArrayLike | None
) -> np.ndarray:
    """Return what the rows of each class weigh, and the sums of their columns."""
    if isinstance(est, naive_bayes.BernoulliNB):
        x = _binarized(est, x)
    weights = checked_weights(sample_weight, x if x.dtype.kind == "f" else x[:, :1].astype(float), estimator=est)
    x = _floats(x)
    device = run.place("class_sums", est, x, n_targets=n_classes)
    if not isinstance(est, naive_bayes.BernoulliNB):
        raise_if_not_finite(x, estimator=est, name="X")
        check_non_negative(x, f"{type(est).__name__} (input X)")
    if weights is not None and device is None:
        x = x.astype(np.float64, copy=False)
    column = None if weights is None else weights[:, np.newaxis].astype(x.dtype)
    try:
        return _core.class_sums(aligned(x), labels, n_classes, column, device)
    except _core.NonFiniteError as error:
        raise_like_scikit_learn(est, error, x)


def _count(est: Any, sums: np.ndarray, *, is_first: bool) -> Any:
    """Add sums to the counts of a model, and learn from these as scikit-learn does."""
    if is_first:
        est._init_counters(*np.subtract(sums.shape, (0, 1)))
    est.class_count_ += sums[:, 0]
    est.feature_count_ += sums[:, 1:]
    if isinstance(est, naive_bayes.ComplementNB):
        est.feature_all_ = est.feature_count_.sum(axis=0)
    est._update_feature_log_prob(est._check_alpha())
    est._update_class_log_prior(class_prior=est.class_prior)
    return est


def _floats(x: np.ndarray) -> np.ndarray:
    if x.dtype == np.float16:
        msg = "float16 data run in scikit-learn"
        raise LeaveToScikitLearnError(msg)
    return x if x.dtype == np.float32 else x.astype(np.float64, copy=False)


def _binarized(est: Any, x: np.ndarray) -> np.ndarray:
    raise_if_not_finite(x, estimator=est, name="X")
    return x if est.binarize is None else (x > est.binarize).astype(x.dtype)


def _joint(est: Any, run: Run, X: npt.ArrayLike) -> np.ndarray:
    """Return the logarithm of the prior times the likelihood, a row for each of `X` and a column for each class."""
    x = validated(est, X, accept_sparse="csr", reset=False, ensure_all_finite=False)
    run.leave_sparse(x)
    weights, constant = est.feature_log_prob_, est.class_log_prior_
    if isinstance(est, naive_bayes.BernoulliNB):
        x = _binarized(est, x)
        absent = np.log(1 - np.exp(weights))
        weights, constant = weights - absent, constant + absent.sum(axis=1)
    elif isinstance(est, naive_bayes.ComplementNB) and len(est.classes_) > 1:
        constant = np.zeros(len(est.classes_))
    x = _floats(x)
    device = run.place("linear_predict", est, x, n_targets=len(weights))
    # Natively in float64, as the state is.
    rows = x if device is not None else x.astype(np.float64, copy=False)
    out = np.empty((len(x), len(weights)), dtype=rows.dtype)
    weights, constant = (np.ascontiguousarray(value, dtype=rows.dtype) for value in (weights, constant))
    try:
        _core.linear_predict(aligned(rows), weights, constant, out, device)
    except _core.NonFiniteError as error:
        raise_like_scikit_learn(est, error, x)
    return out.astype(np.float64, copy=False)


_MULTINOMIAL = answers(naive_bayes.MultinomialNB, _joint, _FITTED, _FINITE)


class MultinomialNB(Accelerated, naive_bayes.MultinomialNB):
    __doc__ = on_the_gpu(naive_bayes.MultinomialNB, _NOTE)

    @accelerated(naive_bayes.MultinomialNB, is_fit=True, calls_others=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        return _fit(self, run, X, y, sample_weight)

    @accelerated(naive_bayes.MultinomialNB, is_fit=True, calls_others=True)
    @fit_context
    def partial_fit(
        self,
        run: Run,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        return _partial_fit(self, run, X, y, classes, sample_weight)

    predict_joint_log_proba = _MULTINOMIAL.predict_joint_log_proba
    predict = _MULTINOMIAL.predict
    predict_log_proba = _MULTINOMIAL.predict_log_proba
    predict_proba = _MULTINOMIAL.predict_proba


_COMPLEMENT = answers(naive_bayes.ComplementNB, _joint, _FITTED, _FINITE)


class ComplementNB(Accelerated, naive_bayes.ComplementNB):
    __doc__ = on_the_gpu(naive_bayes.ComplementNB, _NOTE)

    @accelerated(naive_bayes.ComplementNB, is_fit=True, calls_others=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        return _fit(self, run, X, y, sample_weight)

    @accelerated(naive_bayes.ComplementNB, is_fit=True, calls_others=True)
    @fit_context
    def partial_fit(
        self,
        run: Run,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        return _partial_fit(self, run, X, y, classes, sample_weight)

    predict_joint_log_proba = _COMPLEMENT.predict_joint_log_proba
    predict = _COMPLEMENT.predict
    predict_log_proba = _COMPLEMENT.predict_log_proba
    predict_proba = _COMPLEMENT.predict_proba


_BERNOULLI = answers(naive_bayes.BernoulliNB, _joint, _FITTED, _FINITE)


class BernoulliNB(Accelerated, naive_bayes.BernoulliNB):
    __doc__ = on_the_gpu(naive_bayes.BernoulliNB, _NOTE)

    @accelerated(naive_bayes.BernoulliNB, is_fit=True, calls_others=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        return _fit(self, run, X, y, sample_weight)

    @accelerated(naive_bayes.BernoulliNB, is_fit=True, calls_others=True)
    @fit_context
    def partial_fit(
        self,
        run: Run,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        return _partial_fit(self, run, X, y, classes, sample_weight)

    predict_joint_log_proba = _BERNOULLI.predict_joint_log_proba
    predict = _BERNOULLI.predict
    predict_log_proba = _BERNOULLI.predict_log_proba
    predict_proba = _BERNOULLI.predict_proba
