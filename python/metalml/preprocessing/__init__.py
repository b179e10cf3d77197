"""scikit-learn's `preprocessing`, with our `StandardScaler`; every other name is scikit-learn's own object."""

from metalml._mirror import mirrored

__getattr__, __dir__ = mirrored(__name__, {"StandardScaler": "metalml.preprocessing._standard_scaler"})
