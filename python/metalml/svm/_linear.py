"""Linear support vector machines that scikit-learn fits and our engines predict with."""

from __future__ import annotations

from sklearn import svm

from metalml._accelerated import Accelerated, following, kept_in_scikit_learn
from metalml._documentation import on_the_gpu
from metalml.linear_model._response import CLASSIFIES, PREDICTS, decision_function_of, predict_of


class LinearSVC(Accelerated, svm.LinearSVC):
    __doc__ = on_the_gpu(svm.LinearSVC, CLASSIFIES)
    fit = kept_in_scikit_learn(svm.LinearSVC)
    decision_function = decision_function_of(svm.LinearSVC)
    predict = following(svm.LinearSVC, "predict", decision_function)


class LinearSVR(Accelerated, svm.LinearSVR):
    __doc__ = on_the_gpu(svm.LinearSVR, PREDICTS)
    fit = kept_in_scikit_learn(svm.LinearSVR)
    predict = predict_of(svm.LinearSVR)
