"""scikit-learn's `linear_model`, with our `Ridge`; every other name is scikit-learn's own object."""

from metalml._mirror import mirrored

__getattr__, __dir__ = mirrored(__name__, {"Ridge": "metalml.linear_model._ridge"})
