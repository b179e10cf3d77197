"""What runs where, in words for people: `backend_info` and `explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sklearn

from metalml import _core, config
from metalml._device import GPU_FLOORS, opened_devices
from metalml._support import NATIVE_FLOOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KIBI = 1024
_LABEL_WIDTH = 22


class BackendInfo(dict[str, Any]):
    """The answer of `backend_info`: a dictionary whose text form is made for reading."""

    def __repr__(self) -> str:
        """Return the report, one fact a line."""
        return "\n".join(_report(self))


def backend_info() -> BackendInfo:
    """Describe the GPUs of this machine, the one in use, and the active configuration.

    Asking loads the graphics driver to list its adapters. It opens no device: a device is opened by the first call
    that a GPU could win, or that names a GPU backend.

    Returns
    -------
    info : BackendInfo
        A dict. `versions`, `config`, `adapters` (list of dict), `devices` (those this process has open: name, limits
        and memory in bytes, counts, float probe, self-test) and `floors` (the sizes from which `auto` takes an engine).
    """
    return BackendInfo(
        versions={"metalml": _core.__version__, "scikit-learn": sklearn.__version__},
        config={name: value for name, value in config.get_config().items() if name in config.OPTIONS},
        device_selector=config.device_selector(),
        adapters=_core.adapters(),
        devices=[_described(device) for device in opened_devices()],
        floors={"native_rows": NATIVE_FLOOR, "gpu_values": {name: dict(floors) for name, floors in GPU_FLOORS.items()}},
    )


def _described(device: _core.Device) -> dict[str, object]:
    """Return what a device says of itself; one that stopped answering says that."""
    try:
        return device.info()
    except RuntimeError as error:
        known = {name: getattr(device, name) for name in ("name", "api", "kind", "driver")}
        return {**known, "error": str(error).splitlines()[0]}


def explain(estimator: object) -> str:
    """Say in words where each operation of a model ran, and why.

    Parameters
    ----------
    estimator : estimator
        Fitted.

    Returns
    -------
    text : str
        One line an operation.
    """
    name = type(estimator).__name__
    backends = getattr(estimator, "operation_backends_", None)
    if backends is None:
        return f"{name} has no record: it is scikit-learn's own class, or was not fitted yet"
    reasons = getattr(estimator, "fallback_reasons_", {})
    lines = []
    for operation, where in backends.items():
        place = {"cpu": "in scikit-learn", "native": "on the native CPU engine"}.get(where, f"on the GPU ({where})")
        reason = reasons.get(operation)
        lines.append(f"{name}.{operation} ran {place}" + (f": {reason}" if reason else ""))
    return "\n".join(lines)


def _report(info: Mapping[str, Any]) -> Iterable[str]:
    versions, options = info["versions"], info["config"]
    yield f"metalml {versions['metalml']} with scikit-learn {versions['scikit-learn']}"
    yield _line("configuration", ", ".join(f"{name}={value}" for name, value in options.items() if value is not None))
    if info["device_selector"]:
        yield _line(config.DEVICE_VARIABLE, info["device_selector"])
    yield _line("native CPU engine", f"ready; `auto` takes it from {info['floors']['native_rows']} rows up")
    yield _line("calibration", "none yet: `auto` chooses by fixed sizes, the same for every machine")
    yield from _adapter_lines(info["adapters"])
    if info["devices"]:
        for device in info["devices"]:
            yield ""
            yield from _device_lines(device)
    elif info["adapters"]:
        lowest = min(size for floors in info["floors"]["gpu_values"].values() for size in floors.values())
        yield _line("GPU in use", "none yet: it is opened by the first call that can use it")
        if all(adapter["kind"] == "software" for adapter in info["adapters"]):
            yield _line("", "a software driver is slower than the CPU: `auto` never takes it")
            yield _line("", 'to try it: metalml.set_config(backend="gpu")')
        else:
            yield _line("", f"`auto` does so for float32 data from {lowest:,} values (rows x columns) up")


def _adapter_lines(adapters: Iterable[Mapping[str, str]]) -> Iterable[str]:
    label = "GPUs found"
    for index, adapter in enumerate(adapters):
        yield _line(label, f"{index}: {adapter['name']}, {adapter['kind']}, {adapter['api']} ({adapter['driver']})")
        label = ""
    if label:
        yield _line(label, "none: no graphics driver answered, so calls run on the CPU engines")
        yield _line("", "to use a GPU, install its driver (on Linux and Windows one with Vulkan); a Mac needs nothing")


def _device_lines(device: Mapping[str, Any]) -> Iterable[str]:
    yield _line("GPU in use", f"{device['name']}, {device['kind']}, {device['api']} ({device['driver']})")
    if "error" in device:
        yield _line("", f"{device['error']}; the next call opens it anew")
        return
    memory = device["memory"]
    yield _line(
        "its memory",
        f"{_bytes(memory['in_use_bytes'])} in use, {_bytes(memory['pooled_bytes'])} kept for the next calls, "
        f"at most {_bytes(memory['limit_bytes'])}",
    )
    yield _line(
        "its limits", ", ".join(f"{_words(name)} {_quantity(name, size)}" for name, size in device["limits"].items())
    )
    yield _line(
        "work so far", ", ".join(f"{_quantity(name, n)} {_words(name)}" for name, n in device["counts"].items())
    )
    tests = device["self_test"]
    failed = [f"{kernel} ({state})" for kernel, state in tests.items() if state.startswith("failed")]
    passed = sum(state == "passed" for state in tests.values())
    waiting = sum(state == "not run" for state in tests.values())
    yield _line(
        "self-test",
        f"{passed} kernels passed, {waiting} not run yet (each runs at its first use), {len(failed)} failed",
    )
    if failed:
        yield _line("", "operations that need these run on the CPU engines: " + ", ".join(failed))
    probe = [f"{_words(name)}: {'yes' if holds else 'no'}" for name, holds in device["float_probe"].items()]
    if probe:
        yield _line("float arithmetic", ", ".join(probe))


def _line(label: str, text: str) -> str:
    return f"  {label:<{_LABEL_WIDTH}}{text}"


def _words(name: str) -> str:
    return name.removesuffix("_bytes").replace("_", " ")


def _quantity(name: str, value: int) -> str:
    return _bytes(value) if name.endswith("_bytes") or "size" in name else f"{value:,}"


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < _KIBI or unit == "GiB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= _KIBI
    raise AssertionError
