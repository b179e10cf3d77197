"""What PyTorch takes on a CUDA device for what `cargo bench -p metalml --bench kernels` times: run both in one session.

python benches/torch_kernels.py
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

PRODUCTS = [(4096, 4096, 4096), (8192, 8192, 8192), (1_000_000, 100, 100), (1_000_000, 32, 8), (1_000_000, 100, 1)]
MATRICES = [(1_000_000, 100), (100_000, 1000)]
ASSIGNMENTS = [(1_000_000, 8, 16), (1_000_000, 100, 100), (1_000_000, 1024, 128)]


def seconds(work: Callable[[], object], times: int = 20) -> float:
    """Time calls one after the other, the first two apart."""
    for _ in range(2):
        work()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times


def show(name: str, took: float, operations: float = 0.0) -> None:
    """Print a line."""
    rate = f"  {operations / took / 1e12:.1f} TFLOP/s" if operations else ""
    print(f"{name:<40} {took * 1e3:9.3f} ms{rate}", flush=True)


def matrix(n_rows: int, n_cols: int) -> torch.Tensor:
    """Make random float32 values on the device."""
    return torch.randn(n_rows, n_cols, device="cuda")


def main() -> None:
    """Print the times."""
    torch.backends.cuda.matmul.allow_tf32 = False
    for m, k, n in PRODUCTS:
        for form in ("nn", "nt", "tn"):
            a = matrix(m, k) if form[0] == "n" else matrix(k, m).T
            b = matrix(k, n) if form[1] == "n" else matrix(n, k).T
            show(f"product {form} {m}x{k}x{n}", seconds(lambda a=a, b=b: a @ b), 2.0 * m * k * n)
    for n_rows, n_cols in MATRICES:
        x = matrix(n_rows, n_cols)
        size = f"{n_rows}x{n_cols}"
        show(f"x.T @ x {size}", seconds(lambda x=x: x.T @ x), 2.0 * n_rows * n_cols**2)
        show(f"sum {size}", seconds(x.sum))
        show(f"column sums {size}", seconds(lambda x=x: x.sum(0)))
        four = seconds(lambda x=x: (torch.var_mean(x, 0), x.amin(0), x.amax(0)))
        show(f"mean, variance, least, greatest {size}", four)
        show(f"copy {size}", seconds(x.clone))
    for n_rows, n_centres, n_cols in ASSIGNMENTS:
        x, centres = matrix(n_rows, n_cols), matrix(n_centres, n_cols)
        norms = (centres * centres).sum(1)

        def assign(x: torch.Tensor = x, centres: torch.Tensor = centres, norms: torch.Tensor = norms) -> object:
            return torch.min(torch.addmm(norms, x, centres.T, alpha=-2), 1)

        show(f"nearest of {n_centres}, {n_rows}x{n_cols}", seconds(assign), 2.0 * n_rows * n_centres * n_cols)
    queries, refs = matrix(10_000, 128), matrix(100_000, 128)
    norms = (refs * refs).sum(1)
    for k in (10, 32, 100):

        def search(k: int = k) -> object:
            return torch.topk(torch.addmm(norms, queries, refs.T, alpha=-2), k, 1, largest=False)

        show(f"{k} neighbours of 10000 among 100000, 128", seconds(search, 5))


if __name__ == "__main__":
    main()
