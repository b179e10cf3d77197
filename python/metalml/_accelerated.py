"""The one decorator: decide where a call runs, run it there, and keep the record.

The order is fixed. Small calls under `auto` go straight to scikit-learn. Then the rules; then scikit-learn's own
validation, inside the accelerated method; then the choice of the engine, by the dtype and the shape that were
validated. A refusal under a strict backend therefore comes after every error that scikit-learn itself would raise.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from threading import get_ident
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
from numpy import ndarray

from metalml._compat import array_api_dispatch, issparse, raise_if_not_finite, without_output_wrapping
from metalml._device import UnsuitedError, choose, leave_to_blas, unavailable
from metalml._record import CARRIED, Accelerated, decision_of, note
from metalml._support import NATIVE_FLOOR, Decision, FallbackWarning, LeaveToScikitLearnError, Rule, first_broken
from metalml.config import active, has_own_context

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metalml._core import Device
    from metalml.config import Options

_Self = TypeVar("_Self")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

__all__ = ["DENSE_NUMPY", "Accelerated", "Run", "accelerated", "aligned", "following", "kept_in_scikit_learn"]


def _is_ours_to_read(_: object, X: object) -> bool:
    return type(X) is np.ndarray or not array_api_dispatch()


_SPARSE = "sparse input runs in scikit-learn: it is never made dense"
DENSE_NUMPY = (
    Rule(lambda _, X: type(X) is np.ndarray or not issparse(X), _SPARSE),
    Rule(_is_ours_to_read, "`array_api_dispatch` is on: arrays of other libraries are left to scikit-learn"),
)

ASKED_FOR_CPU = Decision("cpu", 'scikit-learn was asked for (`backend="cpu"`)')

# (thread, estimator) pairs inside a method of scikit-learn that calls another accelerated method of the same object:
# the inner call belongs to the outer one, and is neither dispatched nor recorded.
_inside: set[tuple[int, int]] = set()


class Run:
    """One accelerated call, as the method's body sees it.

    Parameters
    ----------
    options : Options
        The configuration of this call.
    name : str
        Class and method, for messages.
    refusal : str or None
        The broken rule's reason: the body then validates as scikit-learn does, and `place` raises.
    """

    __slots__ = ("_name", "_options", "_refusal", "decision")

    def __init__(self, options: Options, name: str, refusal: str | None) -> None:
        self._options = options
        self._name = name
        self._refusal = refusal
        self.decision = Decision("native", None)

    @property
    def is_refused(self) -> bool:
        """Whether a rule is broken: only scikit-learn's own errors are looked for, and then `place` raises."""
        return self._refusal is not None

    @property
    def is_auto(self) -> bool:
        """Whether the engine is ours to choose."""
        return self._options.backend == "auto"

    def refuse(self) -> None:
        """Raise or warn about a call of which nothing runs on our engines."""
        apply_policy(self._options, self._name, "in scikit-learn", str(self._refusal))

    def leave_sparse(self, X: object, *, is_error: bool = False) -> None:
        """Leave data to scikit-learn that only validation showed to be sparse: a data frame of sparse columns.

        Parameters
        ----------
        X : array or sparse matrix
            Validated.
        is_error : bool, default=False
            scikit-learn refuses sparse data here.
        """
        if self._refusal is None and issparse(X):
            raise LeaveToScikitLearnError(_SPARSE, is_error=is_error)

    def place(
        self,
        work: str,
        estimator: object,
        X: np.ndarray,
        *,
        dtype: np.dtype | None = None,
        n_targets: int = 1,
        name: str = "X",
        allow_nan: bool = False,
        solves_on_host: bool = False,
        keeps_float64: bool = False,
    ) -> Device | None:
        """Choose the engine, after validation and before any computing.

        Parameters
        ----------
        work : str
            The core's name for the operation.
        estimator : estimator
            For the message if `X` turns out not to be finite.
        X : ndarray
            Validated, but for its finiteness: the engine looks at that, unless the call is refused here.
        dtype : numpy.dtype, default=None
            Type to compute in, that of `X` by default.
        n_targets : int, default=1
            Columns of the targets or of the result.
        name : str, default="X"
            What scikit-learn calls the data in its message.
        allow_nan : bool, default=False
            NaN is no error in `X`.
        solves_on_host : bool, default=False
            The native engine takes part after the GPU.
        keeps_float64 : bool, default=False
            No GPU takes float64 data, whatever `precision` says.

        Returns
        -------
        device : Device or None
            `None` is the native engine.
        """
        device, reason = None, self._refusal
        if reason is None:
            device, reason = choose(
                self._options,
                work,
                X.shape,
                n_targets,
                X.dtype if dtype is None else dtype,
                keeps_float64=keeps_float64,
            )
        if device is not None:
            self.decision = Decision(f"{device.api}+native" if solves_on_host else device.api, None)
            return device
        if self._refusal is not None or self._options.names_gpu:
            if self._options.policy == "raise":
                raise_if_not_finite(X, estimator=estimator, name=name, allow_nan=allow_nan)
            apply_policy(self._options, self._name, "on the native engine", str(reason))
        if self._options.backend == "auto":
            as_fast = leave_to_blas(work, X.shape, X.dtype if dtype is None else dtype)
            if as_fast is not None:
                msg = f"{as_fast}; not the GPU: {reason}"
                raise LeaveToScikitLearnError(msg, is_choice=True)
        self.decision = Decision("native", reason)
        return None


def aligned(x: np.ndarray) -> np.ndarray:
    """Return the array, or a copy of one whose elements do not lie where the processor reads them whole."""
    return x if x.flags.aligned else x.copy()


def apply_policy(options: Options, name: str, elsewhere: str, reason: str) -> None:
    """Raise or warn, as the configuration says, about a call that runs elsewhere."""
    if options.policy == "raise":
        raise unavailable(options, name, reason)
    if options.policy == "warn":
        warnings.warn(f"{name} runs {elsewhere}: {reason}", FallbackWarning, stacklevel=_depth_of_caller())


def _depth_of_caller() -> int:
    """Return the stack level of the first caller outside this package and scikit-learn."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in {
        "metalml",
        "sklearn",
        "contextlib",
    }:
        frame, depth = frame.f_back, depth + 1
    return max(depth, 1)


def accelerated(
    owner: type, *rules: Rule, is_fit: bool = False, calls_others: bool = False
) -> Callable[
    [Callable[Concatenate[_Self, Run, _Arguments], _Result]], Callable[Concatenate[_Self, _Arguments], _Result]
]:
    """Give a method of a scikit-learn class an accelerated body.

    Parameters
    ----------
    owner : type
        scikit-learn's class; its method of the same name is what the wrapper looks like, and where calls that break
        a rule go.
    *rules : Rule
        Conditions for the body to run, beside those of every operation.
    is_fit : bool, default=False
        A successful call makes or renews the record, and a failed one leaves the estimator as it was.
    calls_others : bool, default=False
        scikit-learn's method calls another accelerated method of the same estimator.
    """
    # What scikit-learn itself refuses comes first: its error is the answer whatever else the call breaks.
    refused = tuple(rule for rule in rules if rule.is_error)
    all_rules = refused + DENSE_NUMPY + tuple(rule for rule in rules if not rule.is_error)

    def decorate(
        body: Callable[Concatenate[_Self, Run, _Arguments], _Result],
    ) -> Callable[Concatenate[_Self, _Arguments], _Result]:
        operation = body.__name__
        run_body = cast("Callable[..., object]", body)
        plain = without_output_wrapping(owner, operation)
        inherited = _marking_inside(plain) if calls_others else plain
        kinds = [parameter.kind for parameter in inspect.signature(plain).parameters.values()]
        most = sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in kinds) - 1

        @functools.wraps(inherited)
        def call(self: Accelerated, *args: object, **kwargs: object) -> object:
            if _inside and (get_ident(), id(self)) in _inside:
                return plain(self, *args, **kwargs)
            options = active()
            if CARRIED in self.__dict__ and not has_own_context():
                options = self.__dict__[CARRIED]
            X = args[0] if args else kwargs.get("X")
            if options.quiet_auto:
                n_rows = X.shape[0] if type(X) is ndarray and X.ndim else _rows(X)
                if n_rows < NATIVE_FLOOR:
                    if calls_others:
                        key = (get_ident(), id(self))
                        _inside.add(key)
                        try:
                            result = plain(self, *args, **kwargs)
                        finally:
                            _inside.discard(key)
                    else:
                        result = plain(self, *args, **kwargs)
                    note(self, operation, n_rows, is_fit)
                    return result
            return _dispatch(self, X, args, kwargs, options)

        def _dispatch(
            self: Accelerated, X: object, args: tuple[object, ...], kwargs: Mapping[str, object], options: Options
        ) -> object:
            name = f"{type(self).__name__}.{operation}"

            def in_scikit_learn(decision: Decision | int) -> object:
                result = inherited(self, *args, **kwargs)
                note(self, operation, decision, is_fit)
                return result

            if len(args) > most:  # a mistake, and our body would count the arguments otherwise
                return inherited(self, *args, **kwargs)
            if options.backend == "cpu":
                return in_scikit_learn(ASKED_FOR_CPU)
            broken = first_broken(all_rules, self, X)
            if broken is not None:
                if broken.is_error:
                    return in_scikit_learn(Decision("cpu", broken.explain(self)))
                reason = broken.explain(self)
                if options.policy != "raise":
                    apply_policy(options, name, "in scikit-learn", reason)
                    return in_scikit_learn(Decision("cpu", reason))
            elif options.backend == "auto" and _rows(X) < NATIVE_FLOOR:
                return in_scikit_learn(_rows(X))

            run = Run(options, name, None if broken is None else broken.explain(self))
            before = self.__dict__.copy()
            try:
                result = run_body(self, run, *args, **kwargs)
            except (LeaveToScikitLearnError, UnsuitedError) as verdict:
                if is_fit:
                    _restore(self, before)
                reason = str(verdict)
                if getattr(verdict, "is_fallback", True):
                    apply_policy(options, name, "in scikit-learn", reason)
            except BaseException:
                if is_fit:
                    _restore(self, before)
                raise
            else:
                note(self, operation, run.decision, is_fit)
                return result
            return in_scikit_learn(Decision("cpu", reason))

        call.__metalml_rules__ = all_rules  # type: ignore[attr-defined]
        return cast("Callable[Concatenate[_Self, _Arguments], _Result]", call)

    return decorate


def kept_in_scikit_learn(owner: type, operation: str = "fit") -> Callable[..., Any]:
    """Return a fit that runs in scikit-learn alone: the record says so, and a strict backend refuses it."""

    def body(self: Accelerated, run: Run, *args: object, **kwargs: object) -> object:  # noqa: ARG001
        run.refuse()
        msg = f"`{operation}` runs in scikit-learn"
        raise LeaveToScikitLearnError(msg, is_choice=True)

    body.__name__ = operation
    rule = Rule(lambda _est, _x: False, f"`{operation}` runs in scikit-learn")
    return accelerated(owner, rule, is_fit=True, calls_others=True)(body)


def following(owner: type, operation: str, leader: Callable[..., object]) -> Callable[..., Any]:
    """Return a method of scikit-learn's that does its work over rows by another, accelerated method of the same object.

    Parameters
    ----------
    owner : type
        scikit-learn's class.
    operation : str
        The method.
    leader : callable
        The accelerated method: what the record says of its last call holds for this one.
    """
    plain = without_output_wrapping(owner, operation)

    @functools.wraps(plain)
    def call(self: Accelerated, *args: object, **kwargs: object) -> object:
        result = plain(self, *args, **kwargs)
        decision = decision_of(self, leader.__name__)
        if decision is not None:
            note(self, operation, decision, is_fit=False)
        return result

    call.__metalml_rules__ = leader.__metalml_rules__  # type: ignore[attr-defined]
    return call


def _marking_inside(method: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(method)
    def marked(self: object, *args: object, **kwargs: object) -> object:
        key = (get_ident(), id(self))
        _inside.add(key)
        try:
            return method(self, *args, **kwargs)
        finally:
            _inside.discard(key)

    return marked


def _restore(estimator: object, before: Mapping[str, object]) -> None:
    state = vars(estimator)
    for name in state.keys() - before.keys():
        del state[name]
    state.update(before)


def _rows(X: object) -> int:
    shape = getattr(X, "shape", None)
    try:
        return int(shape[0]) if shape else len(X)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0
