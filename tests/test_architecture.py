"""The import table of the Python side where import-linter cannot look: the binary, and scikit-learn's private parts."""

from __future__ import annotations

import ast
from pathlib import Path

import metalml

PACKAGE = Path(metalml.__file__).parent
# Estimator modules may use the binary too.
MAY_IMPORT_CORE = {"_device.py", "diagnostics.py"}
MAY_USE_PRIVATE_SCIKIT_LEARN = {"_compat.py"}


def imported(path: Path) -> set[str]:
    """Return the dotted names that a module imports outside `if TYPE_CHECKING`; `from a import b` gives `a.b`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def is_private(name: str) -> bool:
    first, *rest = name.split(".")
    return first == "sklearn" and any(part.startswith("_") for part in rest)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_only_the_estimators_and_the_device_modules_use_the_binary() -> None:
    for path in modules():
        is_estimator = path.parent != PACKAGE and path.name != "__init__.py"
        if is_estimator or path.name in MAY_IMPORT_CORE:
            continue
        assert not [name for name in imported(path) if name.startswith("metalml._core")], path


def test_only_compat_uses_the_private_parts_of_scikit_learn() -> None:
    for path in modules():
        if path.name not in MAY_USE_PRIVATE_SCIKIT_LEARN:
            assert not [name for name in imported(path) if is_private(name)], path


def test_the_estimators_are_found() -> None:
    assert {path.parent.name for path in modules()} > {PACKAGE.name}
