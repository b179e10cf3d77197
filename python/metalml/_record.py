"""What an accelerated estimator remembers of its calls, and what of that a pickle holds.

The public names are properties without a trace in `__dict__`: scikit-learn takes any public attribute that a method
sets for a change of the model, and any that ends in an underscore for a sign that the model is fitted.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
import weakref
from contextvars import ContextVar
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from metalml import config
from metalml._compat import InconsistentVersionWarning, sklearn_version
from metalml._device import engine_version
from metalml._support import Decision, small_call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsIndex

    from metalml._support import Rule

RECORD = "_metalml_record"
CARRIED = "_metalml_carried"
_VERSIONS = {"_sklearn_version": sklearn_version, "_metalml_version": engine_version}
_exporting: ContextVar[bool] = ContextVar("metalml_exporting", default=False)


class Record:
    """The decisions of one estimator's calls; the mapping is replaced, never changed.

    A number stands for a small call of that many rows. Such calls last microseconds, so that making the sentence, or
    even a tuple, would show: it is made when somebody reads it.
    """

    __slots__ = ("decisions", "owner")

    def __init__(self, owner: object, decisions: Mapping[str, Decision | int]) -> None:
        self.owner = weakref.ref(owner)
        self.decisions = decisions


def note(estimator: Accelerated, operation: str, decision: Decision | int, is_fit: bool) -> None:  # noqa: FBT001
    """Record where a call ran: a fit makes the record, another call adds to one that exists."""
    state = estimator.__dict__
    record = state.get(RECORD)
    if is_fit and (operation == "fit" or record is None):
        if record is not None and record.owner() is estimator:
            record.decisions = {operation: decision}
        else:
            state[RECORD] = Record(estimator, {operation: decision})
    elif record is None:
        return
    elif record.owner() is estimator:
        if record.decisions.get(operation) != decision:
            record.decisions = {**record.decisions, operation: decision}
    else:
        # A shallow copy that shares our holder: it gets its own.
        state[RECORD] = Record(estimator, {**record.decisions, operation: decision})


def decision_of(estimator: Accelerated, operation: str) -> Decision | int | None:
    """Return what the record says of an operation, `None` if it says nothing."""
    record = estimator.__dict__.get(RECORD)
    return None if record is None else record.decisions.get(operation)


class Accelerated:
    """What every accelerated estimator has beside scikit-learn's own class."""

    __metalml_operations__: Mapping[str, tuple[Rule, ...]] = {}

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        ours = {
            name: method.__metalml_rules__ for name, method in vars(cls).items() if hasattr(method, "__metalml_rules__")
        }
        cls.__metalml_operations__ = {**cls.__metalml_operations__, **ours}

    def _decisions(self, name: str) -> Mapping[str, Decision]:
        record = vars(self).get(RECORD)
        if record is None:
            msg = f"{type(self).__name__!r} object has no attribute {name!r}: nothing was fitted yet"
            raise AttributeError(msg, name=name, obj=self)
        decisions = record.decisions.items()
        return {key: small_call(value) if isinstance(value, int) else value for key, value in decisions}

    @property
    def operation_backends_(self) -> dict[str, str]:
        """Where each operation ran: `cpu` (scikit-learn), `native`, the GPU's interface, or two joined by `+`."""
        return {name: decision.where for name, decision in self._decisions("operation_backends_").items()}

    @property
    def fallback_reasons_(self) -> dict[str, str | None]:
        """Why each operation did not run on the GPU; `None` where it did."""
        decisions = self._decisions("fallback_reasons_").items()
        return {name: None if decision.reason is None else str(decision.reason) for name, decision in decisions}

    @property
    def backend_(self) -> str:
        """Where the model was fitted."""
        decisions = self._decisions("backend_")
        decision = decisions.get("fit") or next(iter(decisions.values()))
        return decision.where

    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = dict(super().__getstate__())  # type: ignore[arg-type, call-overload]
        record = cast("Record | None", state.pop(RECORD, None))
        if record is not None:
            state[RECORD] = record.decisions
        carried = cast("config.Options | None", state.pop(CARRIED, None))
        if not _has_fitted_state(state):
            # A worker process does not see the contexts of its parent. A fitted model never takes them along.
            options = asdict(carried) if carried is not None else config.carried()
            if options is not None:
                state[CARRIED] = {"process": os.getpid(), "options": options}
        return {**state, **_VERSIONS}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        state = dict(state)
        _warn_of_other_versions(type(self).__name__, {key: state.pop(key, None) for key in _VERSIONS})
        carried = state.pop(CARRIED, None)
        if isinstance(carried, dict) and _is_worker_of(carried["process"]):
            state[CARRIED] = config.Options(**carried["options"])
        decisions = state.pop(RECORD, None)
        vars(self).update(state)
        if decisions is not None:
            vars(self)[RECORD] = Record(self, decisions)  # type: ignore[arg-type]

    def __sklearn_clone__(self) -> Accelerated:
        clone = super().__sklearn_clone__()  # type: ignore[misc]
        if CARRIED in vars(self):
            vars(clone)[CARRIED] = vars(self)[CARRIED]
        return clone

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        if _exporting.get():
            state = {name: value for name, value in vars(self).items() if name not in {RECORD, CARRIED}}
            plain = plain_class(type(self))
            return plain.__new__, (plain,), {**state, "_sklearn_version": sklearn_version}
        return cast("tuple[Any, ...]", super().__reduce_ex__(protocol))


def plain_class(accelerated_class: type) -> type:
    """Return scikit-learn's own class behind one of ours."""
    return next(base for base in accelerated_class.__mro__ if base.__module__.partition(".")[0] == "sklearn")


def export(model: object) -> object:
    """Return a copy of a model in which every estimator of ours is scikit-learn's own.

    The copy needs scikit-learn alone, in this process and from a pickle. Meta-estimators such as pipelines are copied
    with all they hold.

    Parameters
    ----------
    model : estimator
        Fitted or not.

    Returns
    -------
    plain : estimator
        With the same parameters and the same fitted attributes.
    """
    import copy

    token = _exporting.set(True)
    try:
        return copy.deepcopy(model)
    finally:
        _exporting.reset(token)


def _has_fitted_state(state: Mapping[str, object]) -> bool:
    return any(name.endswith("_") and not name.startswith("__") for name in state)


def _is_worker_of(process: int) -> bool:
    parent = multiprocessing.parent_process()
    # loky starts its workers itself, without telling multiprocessing who the parent is.
    return process != os.getpid() and (process == os.getppid() or (parent is not None and parent.pid == process))


def _warn_of_other_versions(name: str, found: Mapping[str, object]) -> None:
    pickled = found["_sklearn_version"]
    if pickled is not None and pickled != sklearn_version:
        warning = InconsistentVersionWarning(
            estimator_name=name, current_sklearn_version=sklearn_version, original_sklearn_version=str(pickled)
        )
        warnings.warn(warning, stacklevel=3)
    pickled = found["_metalml_version"]
    if pickled is not None and pickled != engine_version:
        text = f"this {name} was saved by metalml {pickled} and is loaded by {engine_version}: check its answers"
        warnings.warn(text, UserWarning, stacklevel=3)
