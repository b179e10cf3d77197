"""The same mistake made twice: with our estimator and with scikit-learn's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def error_of(call: Callable[[], object]) -> tuple[str, str]:
    """Return the type and the text of the exception that a call raises."""
    try:
        result = call()
    except Exception as error:
        return type(error).__name__, str(error)
    msg = f"no error, but {result!r}"
    raise AssertionError(msg)


def assert_same_error(ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Assert that both calls raise the same exception with the same text."""
    expected = error_of(theirs)
    found = error_of(ours)
    assert found == expected, f"{found} instead of {expected}"
