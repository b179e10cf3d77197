"""Docstrings: scikit-learn's own text of the installed version, and a note of ours."""

from __future__ import annotations

import inspect

# A section that numpydoc knows: scikit-learn reads the docstrings of estimators for their display in notebooks.
_SECTION = "Notes\n-----\n"


def on_the_gpu(owner: type, text: str) -> str | None:
    """Return the docstring of a scikit-learn class with our note under its Notes."""
    if owner.__doc__ is None:  # python -OO
        return None
    note = (
        f"**On the GPU.** {inspect.cleandoc(text)}\n"
        "After a call, `operation_backends_` says where each operation ran, `fallback_reasons_` why not on the GPU,\n"
        "and `backend_` where the model was fitted.\n"
    )
    inherited = inspect.cleandoc(owner.__doc__)
    if _SECTION in inherited:
        return inherited.replace(_SECTION, f"{_SECTION}{note}\n", 1)
    return f"{inherited}\n\n{_SECTION}{note}"
