from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

_Floats: TypeAlias = npt.NDArray[np.float32 | np.float64]

__all__ = [
    "BackendUnavailableError",
    "Device",
    "DeviceError",
    "InternalError",
    "MetalUnavailableError",
    "NonFiniteError",
    "UnsuitedError",
    "__version__",
    "adapters",
    "class_moments",
    "class_sums",
    "column_ranges",
    "column_statistics",
    "covariance_of",
    "elastic_net_fit",
    "gaussian_scores",
    "least_squares_fit",
    "linear_predict",
    "normalize_rows",
    "open_device",
    "ridge_fit",
    "scale_columns",
]

__version__: str

class BackendUnavailableError(RuntimeError): ...
class MetalUnavailableError(BackendUnavailableError): ...
class DeviceError(RuntimeError): ...
class InternalError(RuntimeError): ...
class NonFiniteError(ValueError): ...
class UnsuitedError(ArithmeticError): ...

@final
class Device:
    @property
    def name(self) -> str: ...
    @property
    def api(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def driver(self) -> str: ...
    def info(self) -> dict[str, object]: ...
    def refusal(self, operation: str, n_rows: int, n_cols: int, n_targets: int) -> str | None: ...

def adapters() -> list[dict[str, str]]: ...
def open_device(api: str | None, selector: str | None, software: bool) -> Device: ...
def column_statistics(
    x: _Floats, sample_weight: _Floats | None, device: Device | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def column_ranges(
    x: _Floats, device: Device | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def normalize_rows(x: _Floats, out: _Floats, norm: str, device: Device | None) -> None: ...
def scale_columns(
    x: _Floats,
    out: _Floats,
    mean: npt.NDArray[np.float64] | None,
    scale: npt.NDArray[np.float64] | None,
    inverse: bool,
    device: Device | None,
) -> None: ...
def ridge_fit(
    x: _Floats,
    y: _Floats,
    sample_weight: _Floats | None,
    alpha: npt.NDArray[np.float64],
    fit_intercept: bool,
    device: Device | None,
) -> tuple[_Floats, _Floats]: ...
def class_moments(
    x: _Floats, labels: npt.NDArray[np.uint32], n_classes: int, sample_weight: _Floats | None, device: Device | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64], float]: ...
def class_sums(
    x: _Floats, labels: npt.NDArray[np.uint32], n_classes: int, sample_weight: _Floats | None, device: Device | None
) -> npt.NDArray[np.float64]: ...
def gaussian_scores(
    x: _Floats,
    mean: npt.NDArray[np.float64],
    variance: npt.NDArray[np.float64],
    log_prior: npt.NDArray[np.float64],
    out: _Floats,
    device: Device | None,
) -> None: ...
def covariance_of(
    x: _Floats, about_mean: bool, fourth_powers: bool, device: Device | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]: ...
def least_squares_fit(
    x: _Floats,
    y: _Floats,
    sample_weight: _Floats | None,
    fit_intercept: bool,
    device: Device | None,
) -> tuple[_Floats, _Floats, _Floats]: ...
def elastic_net_fit(
    x: _Floats,
    y: _Floats,
    sample_weight: _Floats | None,
    l1: float,
    l2: float,
    fit_intercept: bool,
    positive: bool,
    tol: float,
    max_iter: int,
    start: _Floats | None,
    seeds: list[int] | None,
    device: Device | None,
) -> tuple[_Floats, _Floats, _Floats, _Floats, list[int]]: ...
def linear_predict(x: _Floats, coef: _Floats, intercept: _Floats, out: _Floats, device: Device | None) -> None: ...
