"""What people may in a repository, as the forge says: asked again after a while."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

KEPT_S: Final = 60.0
"""How long somebody may still look, or see a button, after they may not any more."""
MOST: Final = 10_000


class Rights:
    """Answers that are remembered for a minute; for one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Take how time passes, in seconds."""
        self._clock = clock
        self._known: dict[tuple[str, ...], tuple[float, bool]] = {}

    async def may(
        self, key: tuple[str, ...], ask: Callable[[], Awaitable[bool]]
    ) -> bool:
        """Return the answer to a question, asked anew when the last one is old.

        Raises whatever `ask` raises: who cannot be asked about may nothing.
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
