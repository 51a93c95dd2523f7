"""Sends one request: its precedence, this machine's way out, redirects, and limits.

Precedence is said once for a piece of work, and holds for every request that the work
leads to. The token goes only to the forge's own origin, whatever a redirect or the link
to a next page says. Clients take this machine's own way to others (`grite.outbound`).
https://docs.github.com/rest/using-the-rest-api
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field
from enum import IntEnum
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import aiohttp
import httpx
from yarl import URL

from grite import outbound
from grite.errors import Unavailable


class Precedence(IntEnum):
    """How long a request may be made to wait; the lowest goes first."""

    AT_ONCE = 0
    """A write that may be repeated and announces nothing: it waits for no other write,
    and needs no lease."""
    ANSWER = 1
    """Somebody waits for it."""
    START = 2
    """An agent's session starts by it, and all that stands on its work waits."""
    REST = 3

    @property
    def can_wait(self) -> bool:
        return self > Precedence.ANSWER


current_precedence: ContextVar[Precedence] = ContextVar(
    "precedence", default=Precedence.REST
)


@contextmanager
def going(precedence: Precedence) -> Iterator[None]:
    """Send the block's requests, and those of tasks that it starts, with precedence."""
    before = current_precedence.set(precedence)
    try:
        yield
    finally:
        current_precedence.reset(before)


NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For connections without TLS: it trusts nobody, and loads nothing."""
_UNTRUSTED: Final = "CERTIFICATE_VERIFY_FAILED"
_TRUST: Final = "install the server's CA certificate or set SSL_CERT_FILE to its path"
CONNECTIONS: Final = 16
KEPT_S: Final = 5.0
"""How long a connection is kept that nothing uses."""


def async_client(deadline_s: float) -> httpx.AsyncClient:
    """Return a client for many hosts, redirects not followed.

    Its requests raise `BratError` where the environment names a way that cannot be
    gone.
    """
    return httpx.AsyncClient(timeout=deadline_s, transport=_Ways(), trust_env=False)


def client_of(url: str, deadline_s: float) -> httpx.Client:
    """Return a client for the host of one address, for code without an event loop.

    Raises:
        BratError: the environment names a way that cannot be gone.
    """
    way = outbound.here()
    proxy, context = way.proxy(url), _tls_context(way, url)
    return httpx.Client(
        timeout=deadline_s, proxy=_proxy(proxy, way), verify=context, trust_env=False
    )


class _Ways(httpx.AsyncBaseTransport):
    """Sends through aiohttp: with httpx's own transport a request takes twice as long.

    Its requests raise httpx's errors.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, bool], aiohttp.ClientSession] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        way = outbound.here()
        taken = (way.proxy(url), request.url.scheme == "https")
        if taken not in self._known:
            self._known[taken] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    ssl=_tls_context(way, url),
                    limit=CONNECTIONS,
                    keepalive_timeout=KEPT_S,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            )
        body, limits = await request.aread(), request.extensions.get("timeout", {})
        with _as_httpx(taken[0]):
            answer = await self._known[taken].request(
                request.method,
                URL(url, encoded=True),
                headers=request.headers.multi_items(),
                data=body or None,
                allow_redirects=False,
                proxy=taken[0] or None,
                timeout=aiohttp.ClientTimeout(
                    connect=limits.get("pool"),
                    sock_connect=limits.get("connect"),
                    sock_read=limits.get("read"),
                ),
            )
        return httpx.Response(
            answer.status, headers=answer.raw_headers, stream=_Body(answer)
        )

    async def aclose(self) -> None:
        for each in self._known.values():
            await each.close()


class _Body(httpx.AsyncByteStream):
    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx(""):
            async for chunk in self._answer.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        self._answer.release()


@contextmanager
def _as_httpx(proxy: str) -> Iterator[None]:
    """Raise aiohttp's errors as those of httpx."""
    try:
        yield
    except TimeoutError as error:  # aiohttp's are some, too
        raise httpx.TimeoutException(str(error) or "no answer") from error
    except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError) as error:
        said = str(error)
        if _UNTRUSTED in said:
            said += f": {_TRUST}"
        if proxy:
            above = urlsplit(proxy)
            where = f"{above.hostname}:{above.port or above.scheme}"
            said += f" (through the proxy {where})"
        is_refused = isinstance(error, aiohttp.ClientHttpProxyError)
        raise (httpx.ProxyError if is_refused else httpx.ConnectError)(said) from error
    except aiohttp.ClientError as error:
        raise httpx.RemoteProtocolError(str(error) or repr(error)) from error
    except ValueError as error:  # a header that cannot be sent
        raise httpx.LocalProtocolError(str(error)) from error


def _tls_context(way: outbound.Outbound, url: str) -> ssl.SSLContext:
    return way.authorities() if url.lower().startswith("https:") else NO_TLS


def _proxy(address: str, way: outbound.Outbound) -> httpx.Proxy | None:
    if not address:
        return None
    is_tls = address.lower().startswith("https:")
    return httpx.Proxy(address, ssl_context=way.authorities() if is_tls else None)


DEADLINE_S: Final = 30.0
JSON_BYTES: Final = 10_000_000
"""A larger answer is not read to its end."""
REDIRECTS: Final = 3
WHY_CHARS: Final = 120
LAST_PORT: Final = 65_535
ACCEPT: Final = "application/vnd.github+json"
VERSION: Final = "2022-11-28"
"""https://docs.github.com/rest/about-the-rest-api/api-versions"""
_READ: Final = frozenset({301, 302, 307, 308})
_WRITE: Final = frozenset({307, 308})
"""Redirects that keep method and body."""


class TooLarge(Unavailable):
    """The answer is larger than the request allows."""


@dataclass(frozen=True)
class Ask:
    method: str
    url: str
    """An absolute address, or a path below the API's address."""
    _: KW_ONLY
    body: bytes | None = None
    """JSON."""
    most: int = JSON_BYTES
    deadline_s: float = DEADLINE_S
    stored: bool = False
    """Whether a 302 leads to a signed address, which rejects requests with a token."""
    keep: bool = False
    """Whether to keep the answer and later ask only whether it changed."""
    precedence: Precedence = Precedence.REST
    query: bool = False
    """Whether its body only asks, as a query in GraphQL does."""
    list_url: str = ""
    """Of the list that it is a later page of: GitHub's address of that page has the
    number of the repository in place of its name."""

    @property
    def about(self) -> str:
        return self.list_url or self.url

    @property
    def reads(self) -> bool:
        return self.query or self.method == "GET"

    @property
    def of_graphql(self) -> bool:
        return self.url.endswith("/graphql")

    def __str__(self) -> str:
        return f"{self.method} {self.url}"


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    headers: Mapping[str, str]
    """Names are matched in any case."""
    body: bytes = field(repr=False)
    counted: bool = True
    """Whether the forge counts the request; not if nothing had changed.
    https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
    """
    own: bool = True
    """Whether the forge itself answered, not a server it redirected to."""


class Wire:
    def __init__(self, client: httpx.AsyncClient, api_url: str) -> None:
        self._client = client
        self._base = api_url.rstrip("/")
        self._origin = _origin(_address("the forge's API", api_url))
        self._pages = Pages()

    async def send(self, ask: Ask, token: str) -> HttpReply:
        """Send one request; a redirect that leads nowhere counts as no answer."""
        known = self._pages.get(ask) if ask.keep else None
        headers = {
            "accept": ACCEPT,
            "user-agent": "brat",
            "x-github-api-version": VERSION,
        }
        if ask.body is not None:
            headers["content-type"] = "application/json; charset=utf-8"
        if known is not None:
            headers["if-none-match"] = known.headers["etag"]
        try:
            async with asyncio.timeout(ask.deadline_s):
                reply = await self._follow(ask, headers, token)
        except httpx.LocalProtocolError:  # its text quotes the header, and the token
            raise Unavailable(
                f"{ask}: not sent: the token contains characters that are not "
                "allowed in a header"
            ) from None
        except (httpx.HTTPError, TimeoutError) as error:
            raise Unavailable(f"{ask}: {error!r}") from error
        if reply.status == HTTPStatus.NOT_MODIFIED:
            if known is None:
                raise Unavailable(f"{ask}: unexpected 304 from GitHub")
            fresh = {  # the time, and the rate limit
                name: value
                for name, value in reply.headers.items()
                if name == "date" or name.startswith("x-ratelimit-")
            }
            told = {**known.headers, **fresh}
            reply = HttpReply(known.status, told, known.body, counted=False)
        if ask.keep:
            self._pages.put(ask, reply)
        return reply

    async def _follow(self, ask: Ask, headers: dict[str, str], token: str) -> HttpReply:
        absolute = ask.url.startswith(("https://", "http://"))
        url = _address(ask, ask.url if absolute else self._base + ask.url)
        own = True
        for _ in range(REDIRECTS + 1):
            own = own and _origin(url) == self._origin
            shown = {"authorization": f"Bearer {token}"} if own else {}
            reply = await self._exchange(ask, url, headers | shown)
            onward = self._onward(ask, url, reply)
            if onward is None:
                return HttpReply(reply.status, reply.headers, reply.body, own=own)
            own = own and not (ask.stored and reply.status == HTTPStatus.FOUND)
            url = onward
        raise Unavailable(f"{ask}: redirected more than {REDIRECTS} times")

    async def _exchange(
        self, ask: Ask, url: httpx.URL, headers: dict[str, str]
    ) -> HttpReply:
        body = bytearray()
        try:
            async with self._client.stream(
                ask.method,
                url,
                headers=headers,
                content=ask.body,
                follow_redirects=False,
            ) as answer:
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) > ask.most:
                        raise TooLarge(
                            f"{ask}: the response is larger than {ask.most} bytes"
                        )
                return HttpReply(answer.status_code, answer.headers, bytes(body))
        # httpx reads a redirect that it does not follow.
        except (httpx.InvalidURL, ValueError) as error:
            raise _ill_formed(ask, error) from error

    def _onward(self, ask: Ask, url: httpx.URL, reply: HttpReply) -> httpx.URL | None:
        """Return a redirect's target; None if the reply is final."""
        location = reply.headers.get("location")
        if location is None or reply.status not in (_READ if ask.reads else _WRITE):
            return None
        onward = _address(ask, location, url)
        if not ask.reads:
            return onward if _origin(onward) == self._origin else None
        if onward.scheme not in {"https", url.scheme}:
            raise Unavailable(f"{ask}: brat refused a redirect to {onward.scheme}")
        return onward


@dataclass
class Pages:
    """Keeps the newest answers for later requests, within limits.

    https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
    (conditional requests: an answer that did not change costs nothing)
    """

    most: int = 500
    most_bytes: int = 16_000_000
    _known: dict[str, HttpReply] = field(default_factory=dict)

    def get(self, ask: Ask) -> HttpReply | None:
        return self._known.get(ask.url)

    def put(self, ask: Ask, reply: HttpReply) -> None:
        """Keep an answer in place of the previous one, if it has an ETag."""
        if reply.status != HTTPStatus.OK or "etag" not in reply.headers:
            return
        self._known.pop(ask.url, None)  # the newest are last
        self._known[ask.url] = reply
        sizes = [len(each.body) for each in self._known.values()]
        while len(self._known) > self.most or sum(sizes) > self.most_bytes:
            del self._known[next(iter(self._known))], sizes[0]


def _address(asked: object, text: str, seen_from: httpx.URL | None = None) -> httpx.URL:
    """Return an address to send to, as a page at `seen_from` writes it."""
    try:
        url = httpx.URL(text) if seen_from is None else seen_from.join(text)
        _, _, port = _origin(url)
    except (httpx.InvalidURL, ValueError) as error:  # a host's name: idna's ValueError
        raise _ill_formed(asked, error) from error
    if port is not None and not 0 <= port <= LAST_PORT:
        raise Unavailable(f"{asked}: its address has the invalid port {port}")
    return url


def _ill_formed(asked: object, error: Exception) -> Unavailable:
    why = ascii(str(error))[:WHY_CHARS]
    return Unavailable(f"{asked}: its address is malformed: {why}")


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Return scheme, host and port; httpx leaves out a scheme's usual port."""
    return url.scheme, url.host, url.port
