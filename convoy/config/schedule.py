"""When a convoy is due by the clock: every so many hours, at a moment of its own.

Many repositories that want something daily must not ask for it in the same minute, so
each of their schedules begins at an offset that only its name decides. Pure.
"""

import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple

HOUR_MS: Final = 3_600_000
WINDOW_MS: Final = HOUR_MS
"""What nobody started for so long is left to the next time."""


class Due(NamedTuple):
    """One schedule whose time has come."""

    name: str
    begun: int
    """When its time came, unix ms: the same for every look within the window."""


def due(
    hours: Mapping[str, int], repository: str, now: int, window: int = WINDOW_MS
) -> tuple[Due, ...]:
    """Return what is due at `now` (unix ms), in the order of the names.

    Args:
        hours: between two times, by the schedule's name; each at least 1.
        repository: `owner/name`, in any case.
        now: unix ms.
        window: how late a schedule may still be started, ms.
    """
    found = []
    for name, every in sorted(hours.items()):
        period = every * HOUR_MS
        offset = _offset(f"{repository.casefold()}:{name}", period)
        begun = (now - offset) // period * period + offset
        if now - begun < window:
            found.append(Due(name, begun))
    return tuple(found)


def _offset(name: str, period: int) -> int:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest) % period
