"""Bounds the memory that unfinished bodies take, for one client and for all.

Where there is no more room, the body that has been unfinished for the longest is given
up: one that is sent slowly on purpose never keeps out one that is sent at once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

TOTAL: Final = 64_000_000
PER_CLIENT: Final = 32_000_000
"""More than the largest delivery of GitHub, which comes from few addresses."""


@dataclass(eq=False, kw_only=True)
class Body:
    """A body that is being received."""

    client: str
    give_up: Callable[[], None]
    """Ends the reading of the body."""
    held: int = 0
    given_up: bool = False


class BytesInFlight:
    """Counts the bytes of all bodies being received; for one event loop."""

    def __init__(self, total: int = TOTAL, per_client: int = PER_CLIENT) -> None:
        """Allow so many bytes in all, and from one client."""
        self._total = total
        self._per_client = per_client
        self._bodies: dict[Body, None] = {}
        self.held = 0
        """How many bytes are held now."""

    @contextmanager
    def receiving(self, client: str, give_up: Callable[[], None]) -> Iterator[Body]:
        """Give a new body, whose bytes count until the block ends.

        Args:
            client: the sender; empty: it cannot be told from others.
            give_up: called once if the body has to make room; it may not block.
        """
        body = Body(client=client, give_up=give_up)
        self._bodies[body] = None
        try:
            yield body
        finally:
            self._forget(body)

    def add(self, body: Body, size: int) -> None:
        """Count bytes that were received, and make room for them."""
        if body.given_up:
            return
        body.held += size
        self.held += size
        while body.client and self._held_by(body.client) > self._per_client:
            self._give_up(each for each in self._bodies if each.client == body.client)
        while self.held > self._total:
            self._give_up(iter(self._bodies))

    def _held_by(self, client: str) -> int:
        return sum(each.held for each in self._bodies if each.client == client)

    def _give_up(self, oldest_first: Iterator[Body]) -> None:
        body = next(each for each in oldest_first if each.held)
        self._forget(body)
        body.given_up = True
        body.give_up()

    def _forget(self, body: Body) -> None:
        if self._bodies.pop(body, body) is None:
            self.held -= body.held
