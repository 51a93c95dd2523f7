"""How long tests wait, and how the cost of work grows, on whatever machine.

A wait that succeeds costs nothing, however long it might have been; only a hang pays.
So a limit is what a quiet machine never needs, and `PATIENCE` in the environment
(1 where it is not set, 10 in the Makefile) stretches all limits for busy machines.
"""

import os
import time
from collections.abc import Callable
from typing import Final

import pytest

TRIES = 3
TIMES = 8
LINEAR = 3 * TIMES
"""What grows less grows with the size, not with its square."""


def growth(work: Callable[[int], object], size: int, times: int = TIMES) -> float:
    return _cost(work, size * times) / _cost(work, size)


def _cost(work: Callable[[int], object], size: int) -> float:
    """Return the least processor time of some tries: a busy machine adds to it."""
    took = []
    for _ in range(TRIES):
        begun = time.thread_time()
        work(size)
        took.append(time.thread_time() - begun)
    return min(took)


PATIENCE: Final = float(os.environ.get("PATIENCE") or 1)
HUNG_S: Final = 900.0
"""No test is stretched further: what takes so long hangs."""


def patient(seconds: float) -> float:
    """Return how long to wait for what a quiet machine does within `seconds`."""
    return seconds * PATIENCE


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Stretch the limit of each test."""
    for item in items:
        mark = item.get_closest_marker("timeout")
        limit = float(mark.args[0] if mark else item.config.getini("timeout"))
        stretched = min(patient(limit), max(limit, HUNG_S))
        item.add_marker(pytest.mark.timeout(stretched), append=False)
