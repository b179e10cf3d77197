"""The vocabulary of decisions: what a rule is, and what was decided.

An estimator's list of rules is the only statement of what is supported. Dispatch, the reasons a user reads and the
support table in the documentation are all made from it. Nothing here knows an engine or an estimator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Rule:
    """One condition for a call to run on our engines, with the sentence to say when it does not hold.

    Parameters
    ----------
    holds : callable
        Takes the estimator and `X` as the caller gave it. Looks at types, dtypes, shapes and parameters only.
    reason : str
        What to say; `{name}` stands for the estimator's attribute of that name.
    is_error : bool, default=False
        scikit-learn itself refuses such a call: its own error is the answer, on every backend.
    """

    holds: Callable[..., object]
    reason: str
    is_error: bool = False

    def explain(self, estimator: object) -> str:
        """Return the reason with the estimator's own values in it."""
        try:
            return self.reason.format_map(vars(estimator))
        except (KeyError, IndexError, ValueError, AttributeError, TypeError):
            return self.reason


def first_broken(rules: Sequence[Rule], estimator: object, X: object) -> Rule | None:
    """Return the first rule that does not hold, `None` if all do."""
    for rule in rules:
        try:
            if rule.holds(estimator, X):
                continue
        except (TypeError, ValueError, AttributeError, ArithmeticError):
            # Parameters are not validated yet. What a rule cannot read, scikit-learn is to judge.
            return rule
        return rule
    return None


class Decision(NamedTuple):
    """Where a call ran, and why not on the GPU (`None` if it did)."""

    where: str
    reason: str | None


# Rows from which `auto` takes the native engine: below, the validation of scikit-learn is all the time there is.
NATIVE_FLOOR = 100


def small_call(n_rows: int) -> Decision:
    """Return the decision about a call below the floor of `auto`."""
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    return Decision("cpu", f"{rows}: below {NATIVE_FLOOR:,}, scikit-learn is as fast")


class LeaveToScikitLearnError(Exception):
    """Raised inside an accelerated method when looking at the data showed that scikit-learn must answer.

    Parameters
    ----------
    reason : str
        Plain words, for the record.
    is_error : bool, default=False
        scikit-learn is going to raise its own error, which is the answer on every backend.
    is_choice : bool, default=False
        Nothing was refused: `auto` found scikit-learn the fastest.
    """

    def __init__(self, reason: str, *, is_error: bool = False, is_choice: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_fallback = not (is_error or is_choice)


class FallbackWarning(UserWarning):
    """A call ran elsewhere than asked for, and `on_fallback="warn"` wants that said."""


FallbackWarning.__module__ = "metalml"
