"""scikit-learn's `svm`, with our linear machines; every other name is scikit-learn's own object."""

from metalml._mirror import mirrored

__getattr__, __dir__ = mirrored(__name__, dict.fromkeys(("LinearSVC", "LinearSVR"), f"{__name__}._linear"))
