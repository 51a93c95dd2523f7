"""How the cost of work grows with its size, on whatever machine."""

import time
from collections.abc import Callable

TRIES = 3
TIMES = 8
LINEAR = 3 * TIMES
"""What grows less grows with the size, not with its square."""


def growth(work: Callable[[int], object], size: int, times: int = TIMES) -> float:
    """Return how much more processor time `times` the size takes."""
    return _cost(work, size * times) / _cost(work, size)


def _cost(work: Callable[[int], object], size: int) -> float:
    """Return the least processor time of some tries: a busy machine adds to it."""
    took = []
    for _ in range(TRIES):
        begun = time.thread_time()
        work(size)
        took.append(time.thread_time() - begun)
    return min(took)
