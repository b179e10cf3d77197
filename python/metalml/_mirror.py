"""Every public module of scikit-learn under our name, made when it is imported.

A mirrored module holds nothing: it passes scikit-learn's own objects on, and a few of ours in their place.
scikit-learn's modules themselves are never touched.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_OURS = "metalml"
_THEIRS = "sklearn"


def mirrored(name: str, replacements: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a module that mirrors one of scikit-learn's.

    Parameters
    ----------
    name : str
        The module's own name, under `metalml`.
    replacements : mapping
        For each name that is ours, the module that defines it.
    """
    original = _THEIRS + name.removeprefix(_OURS)

    def get(attribute: str) -> object:
        if attribute in replacements:
            value = getattr(importlib.import_module(replacements[attribute]), attribute)
            vars(sys.modules[name])[attribute] = value
            return value
        module = importlib.import_module(original)
        if attribute == "__all__":
            names = {*getattr(module, "__all__", _public(module)), *replacements}
            return sorted(entry for entry in names if isinstance(entry, str))
        if attribute.startswith("__"):
            msg = f"module {name!r} has no attribute {attribute!r}"
            raise AttributeError(msg)
        try:
            value = getattr(module, attribute)
        except AttributeError:
            # A submodule that nobody has imported yet: asking for it is enough, as everywhere in this namespace.
            if _is_public(attribute) and importlib.util.find_spec(f"{name}.{attribute}") is not None:
                return importlib.import_module(f"{name}.{attribute}")
            msg = f"module {name!r} has no attribute {attribute!r}"
            raise AttributeError(msg) from None
        if isinstance(value, ModuleType) and value.__name__ == f"{original}.{attribute}" and _is_public(attribute):
            return importlib.import_module(f"{name}.{attribute}")
        if isinstance(value, ModuleType) and not _is_public(attribute):
            msg = f"module {name!r} has no attribute {attribute!r}: scikit-learn's private modules are not mirrored"
            raise AttributeError(msg)
        return value

    def names() -> list[str]:
        module = importlib.import_module(original)
        return sorted({*vars(sys.modules[name]), *_public(module), *getattr(module, "__all__", ()), *replacements})

    return get, names


def _public(module: ModuleType) -> list[str]:
    return [entry for entry in dir(module) if _is_public(entry)]


def _is_public(name: str) -> bool:
    return not name.startswith("_")


class MirrorFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `metalml.x.y` where scikit-learn has a public `sklearn.x.y` and we have no file of that name."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return the specification of a mirrored module, `None` for any other."""
        parts = fullname.split(".")
        if parts[0] != _OURS or not all(map(_is_public, parts)):
            return None
        try:
            theirs = importlib.util.find_spec(".".join([_THEIRS, *parts[1:]]))
        except ModuleNotFoundError:
            return None
        if theirs is None:
            return None
        return ModuleSpec(fullname, self, is_package=theirs.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002
        """Let Python make the module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Import scikit-learn's module and pass on what it has."""
        name = module.__name__
        original = importlib.import_module(_THEIRS + name.removeprefix(_OURS))
        module.__doc__ = original.__doc__
        vars(module)["__getattr__"], vars(module)["__dir__"] = mirrored(name, {})


def install() -> None:
    """Add the finder, once, after those that find files."""
    if not any(isinstance(finder, MirrorFinder) for finder in sys.meta_path):
        sys.meta_path.append(MirrorFinder())
