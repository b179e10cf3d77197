"""Linear classifiers that scikit-learn fits and our engines decide with."""

from __future__ import annotations

from sklearn import linear_model

from metalml._accelerated import Accelerated, following, kept_in_scikit_learn
from metalml._documentation import on_the_gpu
from metalml.linear_model._response import CLASSIFIES, decision_function_of


class LogisticRegression(Accelerated, linear_model.LogisticRegression):
    __doc__ = on_the_gpu(linear_model.LogisticRegression, CLASSIFIES)
    fit = kept_in_scikit_learn(linear_model.LogisticRegression)
    decision_function = decision_function_of(linear_model.LogisticRegression)
    predict = following(linear_model.LogisticRegression, "predict", decision_function)
    predict_proba = following(linear_model.LogisticRegression, "predict_proba", decision_function)
    predict_log_proba = following(linear_model.LogisticRegression, "predict_log_proba", decision_function)


class LogisticRegressionCV(Accelerated, linear_model.LogisticRegressionCV):
    __doc__ = on_the_gpu(linear_model.LogisticRegressionCV, CLASSIFIES)
    fit = kept_in_scikit_learn(linear_model.LogisticRegressionCV)
    decision_function = decision_function_of(linear_model.LogisticRegressionCV)
    predict = following(linear_model.LogisticRegressionCV, "predict", decision_function)
    predict_proba = following(linear_model.LogisticRegressionCV, "predict_proba", decision_function)
    predict_log_proba = following(linear_model.LogisticRegressionCV, "predict_log_proba", decision_function)


class RidgeClassifierCV(Accelerated, linear_model.RidgeClassifierCV):
    __doc__ = on_the_gpu(linear_model.RidgeClassifierCV, CLASSIFIES)
    fit = kept_in_scikit_learn(linear_model.RidgeClassifierCV)
    decision_function = decision_function_of(linear_model.RidgeClassifierCV)
    predict = following(linear_model.RidgeClassifierCV, "predict", decision_function)
