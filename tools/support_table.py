"""Write `docs/support.md` from the rules of the estimators, or check that it is up to date.

Usage: `python tools/support_table.py` writes; `--check` only compares, and exits with 1 on a difference.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import metalml
from metalml._accelerated import Accelerated
from metalml._device import GPU_FLOORS
from metalml._support import NATIVE_FLOOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metalml._support import Rule

TARGET = Path(__file__).resolve().parent.parent / "docs" / "support.md"

HEAD = f"""# What runs where

Made from the rules of the estimators by `make docs` (`tools/support_table.py`); do not edit.

A call for which every rule holds runs on the GPU or on the native CPU engine. Otherwise it runs in scikit-learn, and
`fallback_reasons_` gives the sentence of the rule that did not hold. Every other estimator of scikit-learn is
scikit-learn's own.

- GPU: float32 data, and float64 data with `precision="float32"`. Under `backend="auto"` only from the sizes below.
- Native engine: float32 and float64 data; integers become float64. Under `backend="auto"` from {NATIVE_FLOOR} rows.
"""


def implemented() -> Iterator[tuple[str, type[Accelerated]]]:
    """Yield the public name and the class of every accelerated estimator."""
    for package in pkgutil.iter_modules(metalml.__path__, "metalml."):
        if not package.ispkg:
            continue
        for module in pkgutil.iter_modules(importlib.import_module(package.name).__path__, f"{package.name}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, type) and issubclass(value, Accelerated) and value.__module__ == module.name:
                    yield f"{package.name}.{name}", value


def _cell(rule: Rule) -> str:
    text = re.sub(r"\{\w+![rs]\}", "...", rule.reason).replace("|", "\\|")
    return f"{text} (scikit-learn's own error)" if rule.is_error else text


def table() -> str:
    """Return the text of the page."""
    lines = [HEAD]
    for name, estimator in sorted(implemented()):
        operations: dict[str, list[str]] = {}
        for operation, rules in estimator.__metalml_operations__.items():
            for rule in rules:
                operations.setdefault(_cell(rule), []).append(f"`{operation}`")
        lines += [f"## `{name}`", "", "| when | operations |", "|---|---|"]
        lines += [f"| {reason} | {', '.join(names)} |" for reason, names in operations.items()]
        lines.append("")
    kinds = sorted({kind for floors in GPU_FLOORS.values() for kind in floors})
    lines += [
        "## Sizes from which `auto` takes a GPU",
        "",
        "Values are rows x columns. A software driver is never taken by `auto`.",
        "",
        "| work | " + " | ".join(kinds) + " |",
        "|---" * (len(kinds) + 1) + "|",
    ]
    lines += [
        f"| {work.replace('_', ' ')} | " + " | ".join(f"{floors[kind]:,}" for kind in kinds) + " |"
        for work, floors in GPU_FLOORS.items()
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    text = table()
    if parser.parse_args().check:
        return 0 if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
