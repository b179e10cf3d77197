"""What all naive Bayes classifiers share: labels as numbers, and answers from joint log-likelihoods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from metalml._accelerated import Run, accelerated
from metalml._compat import raise_if_not_finite
from metalml._support import LeaveToScikitLearnError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from metalml._support import Rule


def labels_of(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the number of each row's class."""
    try:
        at = np.searchsorted(classes, y)
        is_known = bool(np.all(classes[np.minimum(at, len(classes) - 1)] == y))
    except TypeError:
        at, is_known = np.zeros(0), False
    if not is_known:
        msg = "labels that are not among `classes`"
        raise LeaveToScikitLearnError(msg, is_error=True)
    return at.astype(np.uint32)


def raise_like_scikit_learn(estimator: object, error: Exception, x: np.ndarray) -> NoReturn:
    """Raise scikit-learn's own error about values that an engine found not to be finite."""
    if str(error.args[0]) == "X":
        raise_if_not_finite(x, estimator=estimator, name="X")
    msg = f"`{error.args[0]}` holds values that are not finite"
    raise LeaveToScikitLearnError(msg) from error


class Answers(NamedTuple):
    """The accelerated methods that a classifier answers by."""

    predict_joint_log_proba: Any
    predict: Any
    predict_log_proba: Any
    predict_proba: Any


def answers(owner: type, joint: Callable[[Any, Run, npt.ArrayLike], np.ndarray], *rules: Rule) -> Answers:
    """Return the methods of scikit-learn's class, all from the joint log-likelihoods of rows and classes.

    `joint` returns an array of its own, n by k.
    """

    def predict_joint_log_proba(self: Any, run: Run, X: npt.ArrayLike) -> np.ndarray:
        return joint(self, run, X)

    def predict(self: Any, run: Run, X: npt.ArrayLike) -> np.ndarray:
        return self.classes_[np.argmax(joint(self, run, X), axis=1)]

    def predict_log_proba(self: Any, run: Run, X: npt.ArrayLike) -> np.ndarray:
        scores = joint(self, run, X)
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores

    def predict_proba(self: Any, run: Run, X: npt.ArrayLike) -> np.ndarray:
        scores = joint(self, run, X)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    bodies = (predict_joint_log_proba, predict, predict_log_proba, predict_proba)
    return Answers(*(accelerated(owner, *rules, calls_others=True)(body) for body in bodies))
