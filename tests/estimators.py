"""Every estimator of ours, found as the support table finds them."""

from __future__ import annotations

import importlib
import pkgutil

import metalml
from metalml._accelerated import Accelerated


def implemented() -> list[type[Accelerated]]:
    """Return the classes, by module and name."""
    found: set[type[Accelerated]] = set()
    for package in pkgutil.iter_modules(metalml.__path__, "metalml."):
        if package.ispkg:
            for module in pkgutil.iter_modules(importlib.import_module(package.name).__path__, f"{package.name}."):
                values = vars(importlib.import_module(module.name)).values()
                found |= {
                    value
                    for value in values
                    if isinstance(value, type) and issubclass(value, Accelerated) and value.__module__ == module.name
                }
    return sorted(found, key=lambda owner: (owner.__module__, owner.__name__))
