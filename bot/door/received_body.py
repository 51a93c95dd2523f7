"""Receives a request's body within limits of time and of memory, a client's and all.

Where there is no more room, the body that has been unfinished for the longest is given
up: one that is sent slowly on purpose never keeps out one that is sent at once.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from aiohttp import web

from bot.door.listening import CLIENT

TOTAL_BYTES: Final = 64_000_000
BYTES_PER_CLIENT: Final = 32_000_000
"""More than the largest delivery of GitHub, which comes from few addresses."""


@dataclass(eq=False, kw_only=True)
class Body:
    client: str
    give_up: Callable[[], None]
    """Ends the reading of the body."""
    held: int = 0
    given_up: bool = False


class BytesInFlight:
    """Counts the bytes of all bodies being received; for one event loop."""

    def __init__(
        self, total: int = TOTAL_BYTES, per_client: int = BYTES_PER_CLIENT
    ) -> None:
        self._total = total
        self._per_client = per_client
        self._bodies: dict[Body, None] = {}
        self.held = 0
        """How many bytes are held now."""

    @contextmanager
    def receiving(self, client: str, give_up: Callable[[], None]) -> Iterator[Body]:
        """Give a new body, whose bytes count until the block ends.

        `give_up` is called once if the body has to make room; it may not block. A
        client without a name cannot be told from others.
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


READ_S: Final = 10.0
"""GitHub gives up after this time; a slower sender only takes up memory.
https://docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks"""


class HttpRefusal(Exception):
    """The request is turned away; the answer says why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


async def receive_body(
    request: web.Request, bodies: BytesInFlight, most: int, within_s: float = READ_S
) -> bytearray:
    """Return a request's body, read for the first time.

    It is refused if it is larger than `most`, comes too slowly, has to make room for
    others, or breaks off.
    """
    timer = asyncio.timeout(within_s)

    def give_up() -> None:
        if not timer.expired():
            timer.reschedule(0)

    with bodies.receiving(request.get(CLIENT, ""), give_up) as body:
        try:
            async with timer:
                return await _read(request, most, lambda size: bodies.add(body, size))
        except TimeoutError:
            if body.given_up:
                why = "too much is being received: send it again later"
                raise HttpRefusal(HTTPStatus.SERVICE_UNAVAILABLE, why) from None
            why = f"the body did not come within {within_s:g} s"
            raise HttpRefusal(HTTPStatus.REQUEST_TIMEOUT, why) from None
        except web.RequestPayloadError:
            why = "the body cannot be read"
            raise HttpRefusal(HTTPStatus.BAD_REQUEST, why) from None


async def _read(
    request: web.Request, most: int, more: Callable[[int], None]
) -> bytearray:
    too_large = HttpRefusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {most} bytes"
    )
    if (request.content_length or 0) > most:
        raise too_large
    found = bytearray()
    async for chunk in request.content.iter_any():
        found += chunk
        if len(found) > most:
            raise too_large
        more(len(chunk))
    return found
