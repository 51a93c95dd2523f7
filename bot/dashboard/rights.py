"""Asks the forge what people may do in a repository, and remembers it for a while."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

KEPT_S: Final = 60.0
"""How long a person who lost a right may still see pages and buttons."""
MOST: Final = 10_000


class Rights:
    """Remembers the forge's answers for a minute; for one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Measure time with `clock`, in seconds."""
        self._clock = clock
        self._known: dict[tuple[str, ...], tuple[float, bool]] = {}

    async def may(
        self, key: tuple[str, ...], ask: Callable[[], Awaitable[bool]]
    ) -> bool:
        """Return whether a person has a right, asking again when the answer is old.

        Raises whatever `ask` raises: a person without an answer has no right.
        """
        now = self._clock()
        known = self._known.get(key)
        if known is not None and now - known[0] < KEPT_S:
            return known[1]
        said = await ask()
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[key] = (now, said)
        return said
