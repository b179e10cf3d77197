"""GaussianNB: means and variances of classes by sums over labelled rows, likelihoods by one fused kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn import naive_bayes

from metalml import _core
from metalml._accelerated import Accelerated, Run, accelerated, aligned
from metalml._compat import (
    checked_weights,
    fit_context,
    gaussian_state_dtype,
    is_first_partial_fit,
    validated,
    validated_pair,
    validated_target,
)
from metalml._documentation import on_the_gpu
from metalml._support import LeaveToScikitLearnError, Rule
from metalml.naive_bayes._classes import answers, labels_of, raise_like_scikit_learn

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self


def _state_is_gaussian(est: GaussianNB, _: object) -> bool:
    state = (est.theta_, est.var_, est.class_prior_)
    return all(type(value) is np.ndarray and value.dtype.kind == "f" for value in state) and est.theta_.size > 0


def _state_is_proper(est: GaussianNB, _: object) -> bool:
    return bool(np.all(est.var_ > 0) and np.all(est.class_prior_ > 0))


_FITTED = Rule(lambda est, _: hasattr(est, "theta_"), "the model is not fitted", is_error=True)
_GAUSSIAN = Rule(_state_is_gaussian, "`theta_`, `var_` and `class_prior_` are not those of a fit with NumPy arrays")
_PROPER = Rule(_state_is_proper, "a class has no variance or no prior: scikit-learn's arithmetic decides")


def _joint(est: GaussianNB, run: Run, X: npt.ArrayLike) -> np.ndarray:
    """Return the logarithm of the prior times the likelihood, a row for each of `X` and a column for each class."""
    x = validated(est, X, reset=False, ensure_all_finite=False)
    if x.dtype != np.float32:
        x = x.astype(np.float64, copy=False)
    dtype = np.result_type(x.dtype, est.theta_.dtype)
    device = run.place("gaussian_scores", est, x, n_targets=len(est.theta_))
    # Natively in the type of the result.
    rows = x if device is not None else x.astype(dtype, copy=False)
    out = np.empty((len(x), len(est.theta_)), dtype=rows.dtype)
    mean, variance = (np.ascontiguousarray(value, dtype=np.float64) for value in (est.theta_, est.var_))
    log_prior = np.log(est.class_prior_.astype(np.float64))
    try:
        _core.gaussian_scores(aligned(rows), mean, variance, log_prior, out, device)
    except _core.NonFiniteError as error:
        raise_like_scikit_learn(est, error, x)
    if device is not None and not np.isfinite(out).all():
        msg = "a row lies farther from a class than float32 can hold"
        raise LeaveToScikitLearnError(msg)
    return out.astype(dtype, copy=False)


_ANSWERS = answers(naive_bayes.GaussianNB, _joint, _FITTED, _GAUSSIAN, _PROPER)


class GaussianNB(Accelerated, naive_bayes.GaussianNB):
    __doc__ = on_the_gpu(
        naive_bayes.GaussianNB,
        """
        `fit`, `partial_fit` and the methods that predict run on the GPU in float32, on the native engine in float32 and
        float64. Variances are those about the mean of their own class, wherever the classes lie.
        """,
    )

    @accelerated(naive_bayes.GaussianNB, is_fit=True, calls_others=True)
    @fit_context
    def fit(self, run: Run, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        classes = np.unique(validated_target(self, y))
        self.classes_ = None
        return self._learn(run, X, y, classes, sample_weight)

    @accelerated(naive_bayes.GaussianNB, is_fit=True, calls_others=True)
    @fit_context
    def partial_fit(
        self,
        run: Run,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        return self._learn(run, X, y, classes, sample_weight)

    def _learn(
        self,
        run: Run,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None,
        sample_weight: npt.ArrayLike | None,
    ) -> Self:
        is_first = is_first_partial_fit(self, classes)
        x, targets = validated_pair(self, X, y, reset=is_first, ensure_all_finite=False)
        weights = checked_weights(sample_weight, x if x.dtype.kind == "f" else x[:, :1].astype(float), estimator=self)
        if x.dtype == np.float16:
            msg = "float16 data run in scikit-learn"
            raise LeaveToScikitLearnError(msg)
        dtype = gaussian_state_dtype(x.dtype)
        if x.dtype != np.float32:
            x = x.astype(np.float64, copy=False)
        known = np.asarray(self.classes_)
        n_classes = len(known)
        priors = None if self.priors is None else np.asarray(self.priors)
        if priors is not None and not _are_priors(priors, n_classes):
            msg = f"priors={self.priors!r} are no priors of {n_classes} classes"
            raise LeaveToScikitLearnError(msg, is_error=True)
        labels = labels_of(targets, known)
        device = run.place("class_moments", self, x, n_targets=n_classes)
        try:
            weight, mean, variance, greatest = _core.class_moments(
                aligned(x), labels, n_classes, None if weights is None else weights[:, np.newaxis], device
            )
        except _core.NonFiniteError as error:
            raise_like_scikit_learn(self, error, x)
        self.epsilon_ = self.var_smoothing * x.dtype.type(greatest)
        if is_first:
            self.theta_, self.var_ = (np.zeros(mean.shape, dtype=dtype) for _ in range(2))
            self.class_count_ = np.zeros(n_classes, dtype=dtype)
            if priors is not None:
                self.class_prior_ = priors.astype(dtype)
        else:
            self.var_ -= self.epsilon_
        self._merge(weight, mean, variance)
        self.var_ += self.epsilon_
        if priors is None:
            self.class_prior_ = self.class_count_ / self.class_count_.sum()
        return self

    def _merge(self, weight: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> None:
        """Add what was found of new rows to what is known (Chan, Golub, LeVeque 1982, equation 2.1)."""
        is_new = ~np.isclose(weight, 0)
        before, added = self.class_count_[is_new].astype(np.float64)[:, np.newaxis], weight[is_new][:, np.newaxis]
        total = before + added
        old_mean, old_variance = (value[is_new].astype(np.float64) for value in (self.theta_, self.var_))
        step = mean[is_new] - old_mean
        self.theta_[is_new] = old_mean + added / total * step
        spread = before * old_variance + added * variance[is_new] + before * added / total * step**2
        self.var_[is_new] = spread / total
        self.class_count_ += weight.astype(self.class_count_.dtype)

    predict_joint_log_proba = _ANSWERS.predict_joint_log_proba
    predict = _ANSWERS.predict
    predict_log_proba = _ANSWERS.predict_log_proba
    predict_proba = _ANSWERS.predict_proba


def _are_priors(priors: np.ndarray, n_classes: int) -> bool:
    return len(priors) == n_classes and bool(np.isclose(priors.sum(), 1.0)) and not bool((priors < 0).any())
