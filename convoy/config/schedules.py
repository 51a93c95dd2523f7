"""When the schedules of a repository are due.

Many repositories that want something daily must not ask for it in the same minute, so
each of their schedules begins at an offset that only its name decides.
"""

import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple

from convoy.model.ids import HOUR_MS

WINDOW_MS: Final = HOUR_MS
"""What nobody started for so long is left to the next time."""


class Due(NamedTuple):
    name: str
    begun: int
    """When its time came, unix ms: the same for every look within the window."""


def due(
    hours: Mapping[str, int], repository: str, now: int, window: int = WINDOW_MS
) -> tuple[Due, ...]:
    """Return what is due at `now` (unix ms), in the order of the names.

    `hours` are those between two times, by the schedule's name; `window` is how late
    one may still be started, ms.
    """
    found = []
    for name, every in sorted(hours.items()):
        period = every * HOUR_MS
        seed = f"{repository.casefold()}:{name}".encode()
        digest = hashlib.blake2b(seed, digest_size=8).digest()
        offset = int.from_bytes(digest) % period
        begun = (now - offset) // period * period + offset
        if now - begun < window:
            found.append(Due(name, begun))
    return tuple(found)
