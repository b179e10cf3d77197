"""Docstrings: scikit-learn's own text of the installed version, and one section of ours."""

from __future__ import annotations

import inspect

_TITLE = "On the GPU"


def on_the_gpu(owner: type, text: str) -> str | None:
    """Return the docstring of a scikit-learn class with our section at its end."""
    if owner.__doc__ is None:  # python -OO
        return None
    section = f"{_TITLE}\n{'-' * len(_TITLE)}\n{inspect.cleandoc(text)}"
    record = (
        "After a call, `operation_backends_` says where each operation ran, `fallback_reasons_` why not on the GPU,\n"
        "and `backend_` where the model was fitted."
    )
    return f"{inspect.cleandoc(owner.__doc__)}\n\n{section}\n{record}\n"
