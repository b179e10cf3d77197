"""Where calls may run, and how precisely: the one table of options and environment variables.

A context (`config_context`) belongs to the thread or task that opened it. A thread without a context of its own,
such as joblib's, follows the context that the main thread has open, else the process-wide default that `set_config`
writes: scikit-learn's `Parallel` forwards only its own options. Options of scikit-learn pass through.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import sklearn

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping


class _Option(NamedTuple):
    """One option: its environment variable, what it may be, and its default."""

    variable: str
    allowed: tuple[str | None, ...]
    default: str | None


GPU_BACKENDS = ("gpu", "metal", "vulkan", "dx12")
OPTIONS = {
    "backend": _Option("METALML_BACKEND", ("auto", "cpu", "native", *GPU_BACKENDS), "auto"),
    "precision": _Option("METALML_PRECISION", ("preserve", "float32"), "preserve"),
    "on_fallback": _Option("METALML_ON_FALLBACK", ("record", "warn", "raise", None), None),
}
DEVICE_VARIABLE = "METALML_DEVICE"
# Read by the core itself, at its first use.
CORE_VARIABLES = {
    "METALML_CACHE_DIR": "the folder for self-test results and compiled pipelines; else the platform's cache folder",
    "METALML_NUM_THREADS": "threads of the native engine and of copies to a GPU; else OMP_NUM_THREADS, else one a core",
}


def _checked(source: str, name: str, value: object) -> str | None:
    allowed = OPTIONS[name].allowed
    if (isinstance(value, str) or value is None) and value in allowed:
        return value
    choices = ", ".join(f"`{choice}`" for choice in allowed)
    msg = f"`{source}` is {value!r}; it can be {choices}"
    raise ValueError(msg)


@dataclass(frozen=True)
class Options:
    """One complete set of choices; immutable, so that threads may share it."""

    backend: str
    precision: str
    on_fallback: str | None

    def __post_init__(self) -> None:
        """Work out what every call asks for."""
        # The three answers that every call asks for are kept, not computed: a call may last only microseconds.
        policy = self.on_fallback or ("raise" if self.backend in GPU_BACKENDS else "record")
        object.__setattr__(self, "policy", policy)
        object.__setattr__(self, "names_gpu", self.backend in GPU_BACKENDS)
        object.__setattr__(self, "quiet_auto", self.backend == "auto" and policy == "record")

    if TYPE_CHECKING:
        policy: str
        names_gpu: bool
        quiet_auto: bool

    @property
    def api(self) -> str | None:
        """The GPU interface asked for by name, `None` for any."""
        return None if self.backend == "gpu" or not self.names_gpu else self.backend


def _from_environment() -> Options:
    values = {}
    for name, option in OPTIONS.items():
        text = os.environ.get(option.variable)
        values[name] = _checked(option.variable, name, text.strip().lower()) if text else option.default
    return Options(**values)


class _ProcessState:
    """What threads without a context of their own follow."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.default: Options | None = None
        self.open_in_main_thread: list[_Scope] = []
        self.visible: Options | None = None

    def publish(self) -> None:
        """Recompute what a thread without a context sees; the lock is held."""
        self.visible = self.open_in_main_thread[-1].options if self.open_in_main_thread else self.default

    def read(self) -> Options:
        with self.lock:
            if self.default is None:
                # Read at first use, so that a bad variable is an error of a call and not of the import.
                self.default = _from_environment()
                self.publish()
            return self.visible or self.default


class _Scope:
    """One open `config_context`; `set_config` inside it changes it in place."""

    __slots__ = ("options",)

    def __init__(self, options: Options) -> None:
        self.options = options


_process = _ProcessState()


def _renew_lock() -> None:
    # Another thread may have held the lock at the moment of the fork; nobody would ever release it in the child.
    _process.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

_scope: ContextVar[_Scope | None] = ContextVar("metalml_config", default=None)


def active() -> Options:
    """Return the options of this context."""
    scope = _scope.get()
    if scope is not None:
        return scope.options
    return _process.visible or _process.read()


def has_own_context() -> bool:
    """Whether this thread or task has a `config_context` open."""
    return _scope.get() is not None


def carried() -> dict[str, str | None] | None:
    """Return the options that a worker process could not find out by itself, `None` if it can."""
    options = active()
    return None if options == _from_environment() else asdict(options)


def device_selector() -> str | None:
    """Return the adapter that the environment asks for: an index, or part of a name or kind."""
    return os.environ.get(DEVICE_VARIABLE, "").strip() or None


def _split(changes: Mapping[str, object]) -> tuple[dict[str, str | None], dict[str, object]]:
    ours = {name: _checked(name, name, value) for name, value in changes.items() if name in OPTIONS}
    return ours, {name: value for name, value in changes.items() if name not in OPTIONS}


def get_config() -> dict[str, object]:
    """Return the options of this context, scikit-learn's own included.

    Returns
    -------
    config : dict
        Keys are the names that `set_config` and `config_context` take.
    """
    return {**sklearn.get_config(), **asdict(active())}


def set_config(**options: object) -> None:
    """Set options for the whole process, or for the innermost open `config_context`.

    Parameters
    ----------
    **options : object
        `backend`, one of `auto`, `cpu` (scikit-learn), `native` (the CPU engine), `gpu`, `metal`, `vulkan`, `dx12`;
        `precision`, `preserve` or `float32`; `on_fallback`, `record`, `warn`, `raise` or None (`raise` for a named
        GPU backend, else `record`); and every option of `sklearn.set_config`.
    """
    ours, others = _split(options)
    if others:
        sklearn.set_config(**others)
    scope = _scope.get()
    default = _process.read()
    with _process.lock:
        if scope is not None:
            scope.options = replace(scope.options, **ours)
        else:
            _process.default = replace(_process.default or default, **ours)
        _process.publish()


@contextmanager
def config_context(**options: object) -> Generator[None, None, None]:
    """Set options inside a `with` block, for this thread or task.

    Parameters
    ----------
    **options : object
        As for `set_config`.
    """
    ours, others = _split(options)
    scope = _Scope(replace(active(), **ours))
    in_main_thread = threading.current_thread() is threading.main_thread()
    with sklearn.config_context(**others):
        token = _scope.set(scope)
        if in_main_thread:
            with _process.lock:
                _process.open_in_main_thread.append(scope)
                _process.publish()
        try:
            yield
        finally:
            _scope.reset(token)
            if in_main_thread:
                with _process.lock:
                    _process.open_in_main_thread.remove(scope)
                    _process.publish()
