"""Regressors that scikit-learn fits and our engines predict with."""

from __future__ import annotations

from sklearn import linear_model

from metalml._accelerated import Accelerated, kept_in_scikit_learn
from metalml._documentation import on_the_gpu
from metalml.linear_model._response import PREDICTS, predict_of, predict_with_deviation_of


class RidgeCV(Accelerated, linear_model.RidgeCV):
    __doc__ = on_the_gpu(linear_model.RidgeCV, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.RidgeCV)
    predict = predict_of(linear_model.RidgeCV)


class LassoCV(Accelerated, linear_model.LassoCV):
    __doc__ = on_the_gpu(linear_model.LassoCV, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.LassoCV)
    predict = predict_of(linear_model.LassoCV)


class ElasticNetCV(Accelerated, linear_model.ElasticNetCV):
    __doc__ = on_the_gpu(linear_model.ElasticNetCV, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.ElasticNetCV)
    predict = predict_of(linear_model.ElasticNetCV)


class MultiTaskLasso(Accelerated, linear_model.MultiTaskLasso):
    __doc__ = on_the_gpu(linear_model.MultiTaskLasso, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.MultiTaskLasso)
    predict = predict_of(linear_model.MultiTaskLasso)


class MultiTaskLassoCV(Accelerated, linear_model.MultiTaskLassoCV):
    __doc__ = on_the_gpu(linear_model.MultiTaskLassoCV, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.MultiTaskLassoCV)
    predict = predict_of(linear_model.MultiTaskLassoCV)


class MultiTaskElasticNet(Accelerated, linear_model.MultiTaskElasticNet):
    __doc__ = on_the_gpu(linear_model.MultiTaskElasticNet, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.MultiTaskElasticNet)
    predict = predict_of(linear_model.MultiTaskElasticNet)


class MultiTaskElasticNetCV(Accelerated, linear_model.MultiTaskElasticNetCV):
    __doc__ = on_the_gpu(linear_model.MultiTaskElasticNetCV, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.MultiTaskElasticNetCV)
    predict = predict_of(linear_model.MultiTaskElasticNetCV)


class Lars(Accelerated, linear_model.Lars):
    __doc__ = on_the_gpu(linear_model.Lars, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.Lars)
    predict = predict_of(linear_model.Lars)


class LarsCV(Accelerated, linear_model.LarsCV):
    __doc__ = on_the_gpu(linear_model.LarsCV, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.LarsCV)
    predict = predict_of(linear_model.LarsCV)


class LassoLars(Accelerated, linear_model.LassoLars):
    __doc__ = on_the_gpu(linear_model.LassoLars, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.LassoLars)
    predict = predict_of(linear_model.LassoLars)


class LassoLarsCV(Accelerated, linear_model.LassoLarsCV):
    __doc__ = on_the_gpu(linear_model.LassoLarsCV, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.LassoLarsCV)
    predict = predict_of(linear_model.LassoLarsCV)


class LassoLarsIC(Accelerated, linear_model.LassoLarsIC):
    __doc__ = on_the_gpu(linear_model.LassoLarsIC, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.LassoLarsIC)
    predict = predict_of(linear_model.LassoLarsIC)


class OrthogonalMatchingPursuit(Accelerated, linear_model.OrthogonalMatchingPursuit):
    __doc__ = on_the_gpu(linear_model.OrthogonalMatchingPursuit, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.OrthogonalMatchingPursuit)
    predict = predict_of(linear_model.OrthogonalMatchingPursuit)


class OrthogonalMatchingPursuitCV(Accelerated, linear_model.OrthogonalMatchingPursuitCV):
    __doc__ = on_the_gpu(linear_model.OrthogonalMatchingPursuitCV, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.OrthogonalMatchingPursuitCV)
    predict = predict_of(linear_model.OrthogonalMatchingPursuitCV)


class BayesianRidge(Accelerated, linear_model.BayesianRidge):
    __doc__ = on_the_gpu(linear_model.BayesianRidge, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.BayesianRidge)
    predict = predict_with_deviation_of(linear_model.BayesianRidge)


class ARDRegression(Accelerated, linear_model.ARDRegression):
    __doc__ = on_the_gpu(linear_model.ARDRegression, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.ARDRegression)
    predict = predict_with_deviation_of(linear_model.ARDRegression)


class HuberRegressor(Accelerated, linear_model.HuberRegressor):
    __doc__ = on_the_gpu(linear_model.HuberRegressor, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.HuberRegressor)
    predict = predict_of(linear_model.HuberRegressor)


class TheilSenRegressor(Accelerated, linear_model.TheilSenRegressor):
    __doc__ = on_the_gpu(linear_model.TheilSenRegressor, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.TheilSenRegressor)
    predict = predict_of(linear_model.TheilSenRegressor)


class QuantileRegressor(Accelerated, linear_model.QuantileRegressor):
    __doc__ = on_the_gpu(linear_model.QuantileRegressor, PREDICTS)
    fit = kept_in_scikit_learn(linear_model.QuantileRegressor)
    predict = predict_of(linear_model.QuantileRegressor)
