"""Between a front process and the bot: their messages, and the requests passed on.

The messages are JSON, a line each. The bot writes `Setup`, then `Destinations` whenever
they change, to the standard input of the front, which ends with it. The front writes
the others to its standard output. Requests for the bot's own process go on to its Unix
socket, and the answers come back.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Final, Self

import msgspec
from aiohttp import (
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    UnixConnector,
    web,
)
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from bot.door.received_body import BytesInFlight, HttpRefusal, receive_body
from bot.settings.hosts import Origins


class Setup(msgspec.Struct, frozen=True, tag=True):
    """How a front listens. It holds no key and no token of the bot."""

    listener: int
    """The descriptor of the listening socket."""
    behind: str
    """The Unix socket where the bot answers what is passed on."""
    networks: tuple[str, ...] = ()
    """The networks from which deliveries may come; empty: all."""
    proxies: int = 0
    """How many of our proxies are in front."""
    secrets: tuple[str, ...] = ()
    """The webhook's; empty: it takes no deliveries."""
    version: str = ""

    def __repr__(self) -> str:
        return f"Setup(listener={self.listener}, behind={self.behind!r})"

    @property
    def origins(self) -> Origins:
        networks = tuple(ip_network(each) for each in self.networks)
        return Origins(networks=networks, proxies=self.proxies)


class Destination(msgspec.Struct, frozen=True):
    name: str
    """Its name in the bot: the full name in lower case."""
    repository_id: int
    label: str
    login: str
    inbox: str
    """The folder of its inbox."""


class Destinations(msgspec.Struct, frozen=True, tag=True):
    """All repositories that are served now."""

    all: tuple[Destination, ...]


class Opened(msgspec.Struct, frozen=True, tag=True):
    """The front listens."""


class RequestKept(msgspec.Struct, frozen=True, tag=True):
    name: str


class PartChanged(msgspec.Struct, frozen=True, tag=True):
    name: str
    part: str


class RosterChanged(msgspec.Struct, frozen=True, tag=True):
    """The App may have been installed or removed somewhere."""


class DeliveryAnswered(msgspec.Struct, frozen=True, tag=True):
    event: str
    status: int


class Logged(msgspec.Struct, frozen=True, tag=True):
    level: int
    logger: str
    line: str


ToFront = Setup | Destinations
FromFront = (
    Opened | RequestKept | PartChanged | RosterChanged | DeliveryAnswered | Logged
)


PASSED_AT_ONCE: Final = 200
"""How many requests are passed on at once: each takes a descriptor there."""
BODY_BYTES: Final = 8_000_000
"""The largest body: a session's checkpoint."""
BODY_S: Final = 60.0
SILENT_S: Final = 60.0
"""How long the bot may say nothing: a stream is silent for 15 s, a wait takes 25 s."""
CONNECT_S: Final = 5.0
_OF_ONE_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te"}
    | {"trailer", "transfer-encoding", "upgrade", "content-length"}
)
"""https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1"""
_OURS: Final = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
_GONE: Final = "The bot does not answer: try again later.\n"
FORWARDED: Final = "X-Forwarded-For"


class Relay:
    """Passes on to one Unix socket; for one event loop."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session
        self._bodies = BytesInFlight()
        self._under_way = 0

    @classmethod
    @asynccontextmanager
    async def to(cls, path: Path) -> AsyncIterator[Self]:
        async with ClientSession(
            connector=UnixConnector(str(path), limit=0, force_close=True),
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_OURS,
            timeout=ClientTimeout(sock_connect=CONNECT_S, sock_read=SILENT_S),
        ) as session:
            yield cls(session)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self._under_way >= PASSED_AT_ONCE:
            raise web.HTTPServiceUnavailable(
                text="Too much at once: try again later.\n",
                headers={"Retry-After": "5"},
            )
        self._under_way += 1
        try:
            return await self._passed_on(request)
        finally:
            self._under_way -= 1

    async def _passed_on(self, request: web.Request) -> web.StreamResponse:
        try:
            body = await receive_body(request, self._bodies, BODY_BYTES, BODY_S)
        except HttpRefusal as turned:
            return web.Response(status=turned.status, text=f"{turned.why}\n")
        url = str(request.rel_url)
        if not url.startswith("/"):
            raise web.HTTPBadRequest(text="Name a path.\n")
        try:
            async with self._session.request(
                request.method,
                URL(f"http://bot{url}", encoded=True),
                headers=_forwarded(request),
                data=bytes(body) or None,
                allow_redirects=False,
            ) as answer:
                return await _passed_back(request, answer)
        except (ClientError, TimeoutError) as error:
            raise web.HTTPServiceUnavailable(text=_GONE) from error


def _forwarded(request: web.Request) -> CIMultiDict[str]:
    """Return the headers to pass on; the last in FORWARDED is whom we talk to."""
    kept = _whole_way(request.headers)
    heard = request.headers.getall(FORWARDED, [])
    kept.popall(FORWARDED, None)
    kept[FORWARDED] = ", ".join([*heard, request.remote or "unknown"])
    return kept


def _whole_way(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """Return the headers that are not of one hop only."""
    named = headers.get("Connection", "").lower().replace(" ", "").split(",")
    left_out = _OF_ONE_HOP.union(named)
    kept = ((name, at) for name, at in headers.items() if name.lower() not in left_out)
    return CIMultiDict(kept)


async def _passed_back(
    request: web.Request, answer: ClientResponse
) -> web.StreamResponse:
    told = web.StreamResponse(status=answer.status, reason=answer.reason)
    told.headers.update(_whole_way(answer.headers))
    told.content_length = answer.content_length
    try:
        await told.prepare(request)
        async for chunk in answer.content.iter_any():
            await told.write(chunk)
        await told.write_eof()
    except (ClientError, TimeoutError) as error:  # it has begun: it can only be cut off
        raise ConnectionResetError(str(error)) from error
    except ConnectionError:
        pass  # the client has gone
    return told
