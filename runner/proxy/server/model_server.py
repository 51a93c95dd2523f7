"""Takes the agent's calls to its model, and makes them with the real key.

An answer is passed on piece by piece as it comes. A connection that breaks on one side
is broken on the other, too.
"""

import asyncio
import hmac
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from ssl import SSLContext
from typing import Final, TypedDict

import msgspec
from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, web
from multidict import CIMultiDict
from yarl import URL

from grite import outbound
from grite.errors import BratError
from runner.proxy.proxy_protocol import Caps, Model, Refused, Spent, Told
from runner.proxy.server.dialects import (
    KEY_HEADERS,
    KEY_IN_QUERY,
    key_header,
    may_ask,
    said_no,
)
from runner.proxy.server.usage_caps import UsageMeter
from runner.proxy.server.usage_reader import UsageReader

BODY_BYTES: Final = 64_000_000
AT_ONCE: Final = 8
"""How many calls may be in flight. A call's tokens are only known at its end, so this
bounds how far a cap can be overshot."""
CONNECT_S: Final = 60.0
_OWN: Final = frozenset(
    {
        *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
        *("host", "content-length", "expect", "cookie", "set-cookie"),
    }
)
"""Headers of one connection, and cookies, which an API has no use for.
https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1"""


def session() -> ClientSession:
    """Return a client that waits for answers as long as its caller does."""
    return ClientSession(
        auto_decompress=False,
        timeout=ClientTimeout(total=None, sock_connect=CONNECT_S),
    )


class Gate:
    """Passes one session's calls on to one vendor."""

    def __init__(
        self,
        model: Model,
        caps: Caps,
        client: ClientSession,
        tell: Callable[[Told], None],
    ) -> None:
        self._model = model
        self._meter = UsageMeter(caps)
        self._client = client
        self._tell = tell
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._told: set[str] = set()
        self._header, self._value = key_header(model)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        if request.path == "/":  # some engines check that the server answers
            return web.Response(text="brat\n")
        if not self._knows(request):
            return self._no(HTTPStatus.UNAUTHORIZED, "This is no key of the session.")
        if not may_ask(self._model.dialect, request.method, request.path):
            asked = f"{request.method} {request.path}"
            self._tell_once(Refused(what=asked[:200]), asked)
            why = f"brat lets no agent ask for {asked[:200]}."
            return self._no(HTTPStatus.NOT_FOUND, why)
        if request.method == "GET":
            return await self._forward(request, b"")
        body = await _body(request)
        if body is None:
            why = f"A request may have {BODY_BYTES} bytes."
            return self._no(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
        async with self._slots:
            if spent := self._meter.spent():
                return self._over(spent)
            self._meter.called()
            return await self._forward(request, body)

    def _over(self, spent: str) -> web.Response:
        why = f"the session's budget of {spent} is spent"
        self._tell_once(Spent(why=why), "")
        return self._no(HTTPStatus.PAYMENT_REQUIRED, f"brat: {why}.")

    def _knows(self, request: web.BaseRequest) -> bool:
        given = [request.headers.get(name, "") for name in KEY_HEADERS]
        given.append(request.query.get(KEY_IN_QUERY, ""))
        token = self._model.token.encode()
        return any(
            hmac.compare_digest(each.removeprefix("Bearer ").encode(), token)
            for each in given
        )

    def _no(self, status: HTTPStatus, why: str) -> web.Response:
        body = said_no(self._model.dialect, status, why)
        return web.json_response(
            status=status, body=msgspec.json.encode(body), content_type=_JSON
        )

    def _tell_once(self, told: Told, key: str) -> None:
        if key not in self._told and len(self._told) < _TOLD_MOST:
            self._told.add(key)
            self._tell(told)

    async def _forward(
        self, request: web.BaseRequest, body: bytes
    ) -> web.StreamResponse:
        query = request.url.query.copy()
        query.pop(KEY_IN_QUERY, None)
        top = URL(self._model.upstream)
        path = top.path.rstrip("/") + request.path
        url = top.with_path(path).with_query(query)
        try:
            async with self._client.request(
                request.method,
                url,
                headers=self._headers(request),
                data=body or None,
                allow_redirects=False,
                **_way(url),
            ) as answer:
                return await self._pass_on(request, answer, len(body))
        except BratError as error:
            return self._no(HTTPStatus.BAD_GATEWAY, f"brat: {error}.")
        except (ClientError, TimeoutError) as error:
            why = f"brat cannot reach the model's vendor: {error!r}."
            return self._no(HTTPStatus.BAD_GATEWAY, why)

    def _headers(self, request: web.BaseRequest) -> CIMultiDict[str]:
        # Only uncompressed answers can be counted.
        dropped = {*_OWN, *KEY_HEADERS, "accept-encoding"}
        headers = CIMultiDict(_without(dropped, request.headers.items()))
        headers[self._header] = self._value
        headers["Accept-Encoding"] = "identity"
        return headers

    async def _pass_on(
        self, request: web.BaseRequest, answer: ClientResponse, asked_bytes: int
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.status, reason=answer.reason)
        response.headers.extend(CIMultiDict(_without(_OWN, answer.headers.items())))
        await response.prepare(request)
        gauge = UsageReader(streams=answer.content_type == "text/event-stream")
        try:
            async for chunk in answer.content.iter_any():
                gauge.feed(chunk)
                await response.write(chunk)
            await response.write_eof()
        except (ClientError, TimeoutError):
            if request.transport is not None:
                request.transport.abort()
        finally:
            if answer.ok and request.method == "POST":
                said = gauge.read(asked_bytes)
                self._meter.add(said)
                self._tell(said)
        return response


_JSON: Final = "application/json"
_TOLD_MOST: Final = 200


class _Way(TypedDict, total=False):
    proxy: str
    ssl: SSLContext


def _way(url: URL) -> _Way:
    """Return this machine's own way to a vendor.

    Raises:
        BratError: its settings name none that can be gone.
    """
    ours, way = outbound.here(), _Way()
    if proxy := ours.proxy(str(url)):
        way["proxy"] = proxy
    if url.scheme == "https":
        way["ssl"] = ours.authorities()
    return way


async def _body(request: web.BaseRequest) -> bytes | None:
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > BODY_BYTES:
            return None
    return bytes(body)


def _without(
    names: frozenset[str] | set[str], headers: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    return (each for each in headers if each[0].lower() not in names)
