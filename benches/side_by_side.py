"""Timing of two ways to do the same work: pairs taken in turn, so that a busy machine slows both."""

from __future__ import annotations

import gc
import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(call: Callable[[], object], n_calls: int = 1) -> float:
    """Return the mean time of one call."""
    begin = time.perf_counter()
    for _ in range(n_calls):
        call()
    return (time.perf_counter() - begin) / n_calls


def medians(*calls: Callable[[], object], n_rounds: int = 7, n_calls: int = 1) -> list[float]:
    """Return the median time of each call over rounds in which all run, each round beginning with another."""
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    gc.disable()
    try:
        for turn in range(n_rounds):
            for step in range(len(calls)):
                which = (turn + step) % len(calls)
                times[which].append(seconds(calls[which], n_calls))
            gc.collect()
    finally:
        gc.enable()
    return [statistics.median(own) for own in times]


def calls_for(call: Callable[[], object], at_least: float = 0.01) -> int:
    """Return how many calls fill a measurement of `at_least` seconds."""
    call()
    return max(1, int(at_least / max(seconds(call), 1e-9)))
