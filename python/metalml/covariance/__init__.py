"""scikit-learn's `covariance`, with our estimators; every other name is scikit-learn's own object."""

from metalml._mirror import mirrored

_OURS = ("EmpiricalCovariance", "LedoitWolf", "OAS", "ShrunkCovariance")

__getattr__, __dir__ = mirrored(__name__, dict.fromkeys(_OURS, f"{__name__}._estimators"))
