"""Small data sets with fixed seeds, and the many memory layouts that an array can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

# Offsets are in units of the column's own spread; `scale` then multiplies the whole.
OFFSETS = (0.0, 1e3, 1e5)
SCALES = (1e-6, 1e-3, 1.0, 1e3, 1e6)


def regression(
    n_rows: int = 200,
    n_columns: int = 5,
    n_targets: int | None = None,
    *,
    dtype: npt.DTypeLike = np.float64,
    offset: float = 0.0,
    scale: float = 1.0,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return `X` of independent columns with the offset and the scale, and `y` that is linear in it, with noise."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_rows, n_columns))
    shape = (n_columns,) if n_targets is None else (n_columns, n_targets)
    y = noise @ rng.normal(size=shape)
    y = y + 0.1 * rng.normal(size=y.shape) + 2.0
    return ((noise + offset) * scale).astype(dtype), y.astype(dtype)


def _memory_mapped(X: np.ndarray, folder: Path) -> np.ndarray:
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def _read_only(X: np.ndarray, _: Path) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _byte_swapped(X: np.ndarray, _: Path) -> np.ndarray:
    return X.astype(X.dtype.newbyteorder())


def _unaligned(X: np.ndarray, _: Path) -> np.ndarray:
    raw = np.empty(X.nbytes + 1, dtype=np.uint8)[1:].view(X.dtype).reshape(X.shape)
    raw[...] = X
    return raw


# Every layout holds the same values as the array it is made from.
LAYOUTS: dict[str, Callable[[np.ndarray, Path], np.ndarray]] = {
    "fortran": lambda X, _: np.asfortranarray(X),
    "negative strides": lambda X, _: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "every second row": lambda X, _: np.repeat(X, 2, axis=0)[::2],
    "every second column": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": _read_only,
    "memory-mapped": _memory_mapped,
    "byte-swapped": _byte_swapped,
    "unaligned": _unaligned,
    "nested lists": lambda X, _: X.tolist(),
}
