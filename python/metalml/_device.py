"""Which device a call gets: the size floors, the devices that were opened, and the reasons why not.

A device is opened only when a GPU could be chosen. What was found, a device or the reason there is none, is kept for
this process; a forked child asks again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metalml import _core, config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metalml.config import Options

__all__ = [
    "BackendUnavailableError",
    "Choice",
    "DeviceError",
    "InternalError",
    "MetalUnavailableError",
    "NonFiniteError",
    "UnsuitedError",
    "choose",
    "engine_version",
    "leave_to_blas",
    "opened_devices",
    "unavailable",
]

BackendUnavailableError = _core.BackendUnavailableError
MetalUnavailableError = _core.MetalUnavailableError
DeviceError = _core.DeviceError
InternalError = _core.InternalError
NonFiniteError = _core.NonFiniteError
UnsuitedError = _core.UnsuitedError
engine_version: str = _core.__version__

# Values (rows x columns) from which `auto` takes a GPU, by kind of device: set high on purpose, until the devices are
# calibrated. The copy to a discrete GPU costs about as much as the native engine's whole pass over the data.
GPU_FLOORS: Mapping[str, Mapping[str, int]] = {
    "column_statistics": {"integrated": 20_000_000, "discrete": 20_000_000, "virtual": 50_000_000},
    "scale_columns": {"integrated": 50_000_000, "discrete": 100_000_000, "virtual": 200_000_000},
    "column_ranges": {"integrated": 20_000_000, "discrete": 20_000_000, "virtual": 50_000_000},
    "normalize_rows": {"integrated": 50_000_000, "discrete": 100_000_000, "virtual": 200_000_000},
    "ridge_fit": {"integrated": 4_000_000, "discrete": 4_000_000, "virtual": 10_000_000},
    "least_squares_fit": {"integrated": 4_000_000, "discrete": 4_000_000, "virtual": 10_000_000},
    "elastic_net_fit": {"integrated": 4_000_000, "discrete": 4_000_000, "virtual": 10_000_000},
    "covariance_of": {"integrated": 4_000_000, "discrete": 4_000_000, "virtual": 10_000_000},
    "shrinkage_of": {"integrated": 4_000_000, "discrete": 4_000_000, "virtual": 10_000_000},
    "class_moments": {"integrated": 10_000_000, "discrete": 20_000_000, "virtual": 50_000_000},
    "class_sums": {"integrated": 20_000_000, "discrete": 50_000_000, "virtual": 100_000_000},
    "gaussian_scores": {"integrated": 10_000_000, "discrete": 20_000_000, "virtual": 50_000_000},
    "linear_predict": {"integrated": 50_000_000, "discrete": 100_000_000, "virtual": 200_000_000},
}


# The smaller side of the data up to which `auto` takes the native engine: beyond it all the time goes into one matrix
# product, at which the BLAS of SciPy is as fast or faster (docs/perf.md).
NATIVE_CEILINGS: Mapping[str, Mapping[str, int]] = {
    "ridge_fit": {"float32": 150, "float64": 500},
    "least_squares_fit": {"float32": 500, "float64": 500},
    "elastic_net_fit": {"float32": 150, "float64": 150},
    "covariance_of": {"float32": 200, "float64": 200},
}


def leave_to_blas(work: str, shape: tuple[int, ...], dtype: np.dtype) -> str | None:
    """Return why scikit-learn is as fast as the native engine for data of this shape, `None` if it is not."""
    ceiling = NATIVE_CEILINGS.get(work, {}).get(dtype.name)
    side = min(shape)
    if ceiling is None or side <= ceiling:
        return None
    return f"a system of {side:,} unknowns: above {ceiling}, scikit-learn is as fast in {dtype.name}"


class Choice(NamedTuple):
    """The device to use (`None`: the native engine) and why it is not a GPU."""

    device: _core.Device | None
    reason: str | None


# Keyed by process: what a parent found out does not hold in a forked child.
_failures: dict[tuple[object, ...], str] = {}
_opened: dict[tuple[object, ...], _core.Device] = {}


def _open(api: str | None, *, software: bool) -> _core.Device | str:
    """Return the device, or the reason why there is none."""
    selector = config.device_selector()
    key = (os.getpid(), api, selector, software)
    if key in _failures:
        return _failures[key]
    try:
        # The core keeps devices, and opens a new one when the old one was lost; keeping them here would hide that.
        device = _opened[key] = _core.open_device(api, selector, software)
    except _core.BackendUnavailableError as error:
        return _failures.setdefault(key, str(error))
    return device


def opened_devices() -> list[_core.Device]:
    """Return the devices that this process has open."""
    process = os.getpid()
    devices = {(found.name, found.api): found for key, found in list(_opened.items()) if key[0] == process}
    return list(devices.values())


def unavailable(options: Options, operation: str, reason: str) -> BackendUnavailableError:
    """Return the exception that refuses a call."""
    hint = 'hint: `on_fallback="record"` runs it elsewhere and records the reason'
    message = f'{operation} was not run with `backend="{options.backend}"`: {reason}\n{hint}'
    return MetalUnavailableError(message) if options.backend == "metal" else BackendUnavailableError(message)


def choose(
    options: Options,
    work: str,
    shape: tuple[int, ...],
    n_targets: int,
    dtype: np.dtype,
    *,
    keeps_float64: bool = False,
) -> Choice:
    """Choose between a GPU and the native engine, for data that were validated.

    Parameters
    ----------
    options : Options
        The active configuration.
    work : str
        The core's name for the operation.
    shape : tuple of int
        Rows and columns of the data.
    n_targets : int
        Columns of the result or of the targets.
    dtype : numpy.dtype
        Type of the data, float32 or float64.
    keeps_float64 : bool, default=False
        The result is nearly exact, and float64 data get it in float64 whatever `precision` says.
    """
    if options.backend == "native":
        return Choice(None, 'the native engine was asked for (`backend="native"`)')
    if dtype != np.float32 and keeps_float64:
        return Choice(None, "the data are float64 (or become it), and this operation keeps all of their digits")
    if dtype != np.float32 and options.precision != "float32":
        return Choice(
            None,
            'the data are float64 (or become it) and keep that precision; `precision="float32"` lets a GPU take them',
        )
    if options.names_gpu:
        device = _open(options.api, software=True)
        if isinstance(device, str):
            return Choice(None, device)
    else:
        size = _size_in_words(shape)
        floors = GPU_FLOORS[work]
        lowest = min(floors.values())
        n_values = shape[0] * shape[1]
        if n_values < lowest:
            return Choice(None, f"{size}: below {lowest:,}, the copy to a GPU costs more than it saves")
        device = _open(None, software=False)
        if isinstance(device, str):
            return Choice(None, device)
        floor = floors.get(device.kind)
        if floor is None:
            return Choice(None, f"{device.name} is a {device.kind} driver, which `auto` never takes")
        if n_values < floor:
            return Choice(None, f"{size}: below {floor:,}, the copy to {device.name} costs more than it saves")
    refusal = device.refusal(work, shape[0], shape[1], n_targets)
    return Choice(device if refusal is None else None, refusal)


def _size_in_words(shape: tuple[int, ...]) -> str:
    return f"{shape[0]:,} rows x {shape[1]:,} columns = {shape[0] * shape[1]:,} values"
