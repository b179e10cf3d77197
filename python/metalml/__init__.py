"""scikit-learn's estimators on the GPU, and on a native CPU engine.

Every public module and name of scikit-learn is reachable here and is scikit-learn's own object, unless it is
implemented. Importing this package patches nothing and opens no device.
"""

from typing import Any

from metalml import _compat, _mirror

_compat.require_supported()
_mirror.install()

# Looked up at first use: the engine's library is not loaded by the import.
_LAZY = {
    "BackendUnavailableError": "metalml._device",
    "DeviceError": "metalml._device",
    "FallbackWarning": "metalml._support",
    "InternalError": "metalml._device",
    "MetalUnavailableError": "metalml._device",
    "backend_info": "metalml.diagnostics",
    "config_context": "metalml.config",
    "explain": "metalml.diagnostics",
    "export": "metalml._record",
    "get_config": "metalml.config",
    "set_config": "metalml.config",
}
_mirror_getattr, __dir__ = _mirror.mirrored(__name__, _LAZY)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from metalml._device import engine_version

        return engine_version
    return _mirror_getattr(name)
