"""scikit-learn's `linear_model`, with our models in place of its own; every other name is scikit-learn's own object."""

from metalml._mirror import mirrored

_OURS = {
    "_classifiers": (
        "LogisticRegression",
        "LogisticRegressionCV",
        "RidgeClassifierCV",
    ),
    "_elastic_net": ("ElasticNet", "Lasso"),
    "_linear_regression": ("LinearRegression",),
    "_regressors": (
        "ARDRegression",
        "BayesianRidge",
        "ElasticNetCV",
        "HuberRegressor",
        "Lars",
        "LarsCV",
        "LassoCV",
        "LassoLars",
        "LassoLarsCV",
        "LassoLarsIC",
        "MultiTaskElasticNet",
        "MultiTaskElasticNetCV",
        "MultiTaskLasso",
        "MultiTaskLassoCV",
        "OrthogonalMatchingPursuit",
        "OrthogonalMatchingPursuitCV",
        "QuantileRegressor",
        "RidgeCV",
        "TheilSenRegressor",
    ),
    "_ridge": ("Ridge", "RidgeClassifier"),
    "_stochastic": (
        "Perceptron",
        "SGDClassifier",
        "SGDRegressor",
    ),
}

__getattr__, __dir__ = mirrored(
    __name__, {name: f"{__name__}.{module}" for module, names in _OURS.items() for name in names}
)
