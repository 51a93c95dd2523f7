"""Plugin: how long tests wait for what must come, one factor for all of them.

A wait that succeeds costs nothing, however long it might have been; only a hang pays.
So a limit is what a quiet machine never needs, and `PATIENCE` in the environment
(1 where it is not set, 10 in the Makefile) stretches all limits for busy machines.
"""

import os
from typing import Final

import pytest

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
