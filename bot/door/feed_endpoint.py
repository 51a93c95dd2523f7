"""The feed's HTTP endpoints: who may send, and what. See docs/live-feed.md.

The token is checked before a body is read, and the size of every body is bounded. The
data only changes what people see; only a session's result counts. What checks a job's
identity is imported late: cryptography is slow to load.
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import msgspec
from aiohttp import web

from bot.door.feed import Feed
from bot.door.listening import READ_S, receive_body, refusal_with
from grite.errors import Unavailable

if TYPE_CHECKING:
    from bot.door.oidc import Issuer


OUTPUT_BYTES: Final = 1_000_000
WAIT_MOST_S: Final = 25.0
"""Proxies close connections that are silent for longer."""
DIGITS: Final = 10
CHECKPOINT_BYTES: Final = 8_000_000
LONG_READ_S: Final = 60.0
PACE_S: Final = 0.5
"""The least time from one request with output to the next."""
_SESSION: Final = r"/{owner}/{name}/{convoy}/{task:\d{1,9}}/{attempt:\d{1,9}}"

Finds = Callable[[str], Feed | None]
"""Finds a repository's feed by the repository's full name in lower case."""


class SentOutput(msgspec.Struct, frozen=True):
    """A session's output, from the piece with number `first` on."""

    first: int
    pieces: list[str]


class FeedEndpoint:
    def __init__(self, finds: Finds, issuer: "Issuer | None" = None) -> None:
        """`issuer` vouches for jobs; None: every caller needs the session's token."""
        self._finds = finds
        self._issuer = issuer

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_post(_SESSION + "/output", self._output)
        app.router.add_post(_SESSION + "/checkpoint", self._checkpoint)
        app.router.add_get(_SESSION + "/messages", self._messages)
        app.router.add_post(_SESSION + "/token", self._token)
        return app

    async def _output(self, request: web.Request) -> web.Response:
        feed, session = self._admitted(request)
        body = await receive_body(request, OUTPUT_BYTES, READ_S)
        try:
            output = msgspec.json.decode(body, type=SentOutput)
        except msgspec.MsgspecError as error:
            raise refusal_with(
                HTTPStatus.BAD_REQUEST, f"the output is not valid: {error}"
            ) from None
        tape = feed.tape(session)
        try:
            tape.add(max(0, output.first), output.pieces)
        except OSError as error:  # such as a full disk: the session sends it again
            why = f"the output cannot be kept: {error.strerror}"
            raise refusal_with(HTTPStatus.INSUFFICIENT_STORAGE, why) from None
        return web.json_response({"next": tape.next, "wait_s": PACE_S})

    async def _checkpoint(self, request: web.Request) -> web.Response:
        """Keep a session's work so far; it is checked only when it is needed."""
        feed, session = self._admitted(request)
        body = await receive_body(request, CHECKPOINT_BYTES, LONG_READ_S)
        if not body:
            raise refusal_with(HTTPStatus.BAD_REQUEST, "the checkpoint is empty")
        feed.forget()
        try:
            await asyncio.to_thread(feed.keep, session, bytes(body))
        except OSError as error:
            why = f"the checkpoint cannot be saved: {error.strerror}"
            raise refusal_with(HTTPStatus.SERVICE_UNAVAILABLE, why) from None
        return web.json_response({})

    async def _messages(self, request: web.Request) -> web.Response:
        feed, session = self._admitted(request)
        number, wait_s = asked_range(request)
        after = max(0, number)
        said = request.query.get("heard", "0")  # how many it gave to the engine
        is_count = said.isascii() and said.isdigit() and len(said) < DIGITS
        feed.note_heard(session, int(said) if is_count else 0)
        new = await feed.messages(session, after, wait_s)
        told = [
            {"number": number, "by": each.by, "text": each.text}
            for number, each in enumerate(new, after + 1)
        ]
        return web.json_response({"messages": told})

    async def _token(self, request: web.Request) -> web.Response:
        """Hand a job its session's token, once the forge proves its identity."""
        feed, session = self._named(request)
        if self._issuer is None:
            why = "this bot has no feed_url setting, so jobs cannot identify themselves"
            raise refusal_with(HTTPStatus.NOT_FOUND, why)
        if feed is None:
            raise refusal_with(HTTPStatus.UNAUTHORIZED, "the token matches no job")
        wanted = feed.claims(session)
        if wanted is None:
            raise refusal_with(
                HTTPStatus.CONFLICT, f"the bot knows no job for session {session}"
            )
        from bot.door.oidc import Untrusted  # the issuer has loaded it

        try:
            await self._issuer.check(shown_token(request), wanted)
        except Untrusted as error:
            raise refusal_with(HTTPStatus.UNAUTHORIZED, str(error)) from None
        except Unavailable as error:
            raise refusal_with(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from None
        return web.json_response({"token": feed.token(session)})

    def _named(self, request: web.Request) -> tuple[Feed | None, str]:
        at = request.match_info
        feed = self._finds(f"{at['owner']}/{at['name']}".casefold())
        return feed, f"{at['convoy']}/{at['task']}/{at['attempt']}"

    def _admitted(self, request: web.Request) -> tuple[Feed, str]:
        """Return the feed and the running session whose token the request shows."""
        feed, session = self._named(request)
        if feed is None or not feed.admits(session, shown_token(request)):
            raise refusal_with(
                HTTPStatus.UNAUTHORIZED, "the token does not match the session"
            )
        if feed.attempt(session) is None:
            raise refusal_with(HTTPStatus.CONFLICT, f"session {session} is not running")
        return feed, session


def shown_token(request: web.Request) -> str:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def asked_range(request: web.Request) -> tuple[int, float]:
    try:
        number = int(request.query.get("after", "-1"))
        wait_s = float(request.query.get("wait_s", "0"))
    except ValueError:
        why = "after and wait_s must be numbers"
        raise refusal_with(HTTPStatus.BAD_REQUEST, why) from None
    return number, min(wait_s, WAIT_MOST_S) if wait_s > 0 else 0.0
