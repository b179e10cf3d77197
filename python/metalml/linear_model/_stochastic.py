"""Models that scikit-learn fits by stochastic gradients, and our engines predict with."""

from __future__ import annotations

from sklearn import linear_model

from metalml._accelerated import Accelerated, following, kept_in_scikit_learn
from metalml._documentation import on_the_gpu
from metalml.linear_model._response import CLASSIFIES, PREDICTS, decision_function_of, predict_of


class SGDRegressor(Accelerated, linear_model.SGDRegressor):
    __doc__ = on_the_gpu(linear_model.SGDRegressor, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.SGDRegressor)
    partial_fit = kept_in_scikit_learn(linear_model.SGDRegressor, "partial_fit")
    predict = predict_of(linear_model.SGDRegressor)


class SGDClassifier(Accelerated, linear_model.SGDClassifier):
    __doc__ = on_the_gpu(linear_model.SGDClassifier, CLASSIFIES)
    fit = kept_in_scikit_learn(linear_model.SGDClassifier)
    partial_fit = kept_in_scikit_learn(linear_model.SGDClassifier, "partial_fit")
    decision_function = decision_function_of(linear_model.SGDClassifier)
    predict = following(linear_model.SGDClassifier, "predict", decision_function)


class Perceptron(Accelerated, linear_model.Perceptron):
    __doc__ = on_the_gpu(linear_model.Perceptron, CLASSIFIES)
    fit = kept_in_scikit_learn(linear_model.Perceptron)
    partial_fit = kept_in_scikit_learn(linear_model.Perceptron, "partial_fit")
    decision_function = decision_function_of(linear_model.Perceptron)
    predict = following(linear_model.Perceptron, "predict", decision_function)
