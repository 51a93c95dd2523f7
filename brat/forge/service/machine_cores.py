"""How many cores this machine gives us."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")


def cores(quota: Path = QUOTA) -> int:
    """Return how many cores this process may use; at least 1.

    Counts the cores it may run on, and in a container the quota of processor time: the
    file holds microseconds in each period, and the period, or `max` for no quota.
    https://docs.kernel.org/admin-guide/cgroup-v2.html (cpu.max)
    """
    try:
        seen = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        seen = os.cpu_count() or 1
    with suppress(OSError, ValueError):
        given, period = quota.read_text(encoding="ascii").split()
        seen = min(seen, int(given) // int(period))
    return max(1, seen)
