"""Bounds the open event streams: each holds a connection until its reader goes."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from aiohttp import web

from bot.dashboard.access_policy import Visitor
from bot.door.listening import CLIENT

TOTAL: Final = 160
ANONYMOUS: Final = 96
"""Of these, how many people may hold who are not signed in."""
EACH: Final = 16
"""How many one person may hold, or one client if nobody is signed in."""


class EventStreams:
    """Counts the open streams; for one event loop."""

    def __init__(self) -> None:
        """Begin with no streams."""
        self._open: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def one_more(self, request: web.Request, visitor: Visitor) -> Iterator[None]:
        """Count a stream for as long as the block lasts.

        Raises:
            HTTPServiceUnavailable: there are too many; the page works without one.
        """
        known = bool(visitor.login) or visitor.may_write
        kind = "person" if known else "anonymous"
        who = (kind, visitor.login if known else request.get(CLIENT, ""))
        anonymous = sum(n for each, n in self._open.items() if each[0] == "anonymous")
        full = (
            self._open.total() >= TOTAL
            or (not known and anonymous >= ANONYMOUS)
            or (who[1] and self._open[who] >= EACH)
        )
        if full:
            raise web.HTTPServiceUnavailable(
                text="Too many pages are open: close some, or load this one again.\n",
                headers={"Retry-After": "60"},
            )
        self._open[who] += 1
        try:
            yield
        finally:
            self._open -= Counter({who: 1})
