"""The feed's door: who may come in, and what may be brought. See docs/live-feed.md.

The token is looked at before anything of a body is read, and every body is bounded.
What is brought changes nothing but what people see; the result alone counts.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import msgspec
from aiohttp import web

from bot.feed.feed import Feed
from convoy.state import Attempt

OUTPUT_BYTES: Final = 1_000_000
"""Of one request."""
READ_S: Final = 10.0
PACE_S: Final = 0.5
"""From one piece of output to the next, at least."""
_SESSION: Final = r"/{owner}/{name}/{convoy}/{task:\d{1,9}}/{attempt:\d{1,9}}"

Finds = Callable[[str], Feed | None]
"""Finds a repository's feed by its full name in small letters."""


class Output(msgspec.Struct, frozen=True):
    """What a session printed, from the piece of number `first` on."""

    first: int
    pieces: list[str]


@dataclass(frozen=True)
class Visitor:
    """A running session that showed its token."""

    feed: Feed
    session: str
    attempt: Attempt


class Reception:
    """The routes of the feed."""

    def __init__(self, finds: Finds) -> None:
        """Receive for the repositories that `finds` knows."""
        self._finds = finds

    def application(self) -> web.Application:
        """Return what is served below `handover.PATH`."""
        app = web.Application()
        app.router.add_post(_SESSION + "/output", self._output)
        return app

    async def _output(self, request: web.Request) -> web.Response:
        visitor = self._visitor(request)
        body = await body_of(request, OUTPUT_BYTES)
        try:
            output = msgspec.json.decode(body, type=Output)
        except msgspec.MsgspecError as error:
            raise turned(
                HTTPStatus.BAD_REQUEST, f"this is no output: {error}"
            ) from None
        tape = visitor.feed.tape(visitor.session)
        await tape.add(max(0, output.first), output.pieces)
        return answer(next=tape.next, wait_s=PACE_S)

    def _visitor(self, request: web.Request) -> Visitor:
        """Return who comes.

        Raises:
            HTTPException: nobody we know, or its session does not run.
        """
        at = request.match_info
        feed = self._finds(f"{at['owner']}/{at['name']}".casefold())
        session = f"{at['convoy']}/{at['task']}/{at['attempt']}"
        if feed is None or not feed.admits(session, shown(request)):
            raise turned(HTTPStatus.UNAUTHORIZED, "this is not the session's token")
        attempt = feed.attempt(session)
        if attempt is None:
            raise turned(HTTPStatus.CONFLICT, f"no session {session} runs")
        return Visitor(feed, session, attempt)


def shown(request: web.Request) -> str:
    """Return the token that a request shows; empty: none."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


async def body_of(request: web.Request, most: int) -> bytes:
    """Return the body.

    Raises:
        HTTPException: it is larger than that, or comes too slowly.
    """
    found = bytearray()
    try:
        async with asyncio.timeout(READ_S):
            async for chunk in request.content.iter_any():
                found += chunk
                if len(found) > most:
                    why = f"the body is larger than {most} bytes"
                    raise turned(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
    except TimeoutError:
        why = f"the body did not come within {READ_S:g} s"
        raise turned(HTTPStatus.REQUEST_TIMEOUT, why) from None
    except web.RequestPayloadError:
        raise turned(HTTPStatus.BAD_REQUEST, "the body cannot be read") from None
    return bytes(found)


def answer(**told: Any) -> web.Response:  # noqa: ANN401  what JSON holds
    """Return an answer in JSON."""
    return web.json_response(told)


def turned(status: HTTPStatus, why: str) -> web.HTTPException:
    """Return the refusal of a request, to be raised."""
    error = _Turned(text=json.dumps({"message": why}), content_type="application/json")
    error.set_status(int(status))
    return error


class _Turned(web.HTTPException):
    """Any status."""

    status_code = 400
