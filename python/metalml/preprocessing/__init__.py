"""scikit-learn's `preprocessing`, with our scalers; every other name is scikit-learn's own object."""

from metalml._mirror import mirrored

_OURS = {
    "_normalizer": ("Normalizer",),
    "_ranges": ("MaxAbsScaler", "MinMaxScaler"),
    "_standard_scaler": ("StandardScaler",),
}

__getattr__, __dir__ = mirrored(
    __name__, {name: f"{__name__}.{module}" for module, names in _OURS.items() for name in names}
)
