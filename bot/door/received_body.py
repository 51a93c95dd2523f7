"""Receives a request's body within the limits of time and memory."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from aiohttp import web

from bot.door.bytes_in_flight import BytesInFlight
from bot.door.client_address import CLIENT

READ_S: Final = 10.0
"""GitHub gives up after this time; a slower sender only takes up memory.
https://docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks"""


class Turned(Exception):
    """The request is turned away; the answer says why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


async def received(
    request: web.Request, bodies: BytesInFlight, most: int, within_s: float = READ_S
) -> bytearray:
    """Return a request's body.

    Args:
        request: its body has not been read.
        bodies: counts the bytes of all bodies that are being received.
        most: the largest body, in bytes.
        within_s: how long the body may take.

    Raises:
        Turned: it is too large, comes too slowly, has to make room, or breaks off.
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
                raise Turned(HTTPStatus.SERVICE_UNAVAILABLE, why) from None
            why = f"the body did not come within {within_s:g} s"
            raise Turned(HTTPStatus.REQUEST_TIMEOUT, why) from None
        except web.RequestPayloadError:
            why = "the body cannot be read"
            raise Turned(HTTPStatus.BAD_REQUEST, why) from None


async def _read(
    request: web.Request, most: int, more: Callable[[int], None]
) -> bytearray:
    too_large = Turned(
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
