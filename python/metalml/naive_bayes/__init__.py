"""scikit-learn's `naive_bayes`, with our estimators; every other name is scikit-learn's own object."""

from metalml._mirror import mirrored

_OURS = {
    "_counts": ("BernoulliNB", "ComplementNB", "MultinomialNB"),
    "_gaussian": ("GaussianNB",),
}

__getattr__, __dir__ = mirrored(
    __name__, {name: f"{__name__}.{module}" for module, names in _OURS.items() for name in names}
)
