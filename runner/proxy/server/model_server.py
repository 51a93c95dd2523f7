"""Takes the agent's calls to its model, and makes them anew with the real key."""

import asyncio
import hmac
from collections.abc import Callable
from http import HTTPStatus
from ssl import SSLContext
from typing import Final, TypedDict

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout, web
from multidict import CIMultiDict
from yarl import URL

from grite import outbound
from grite.errors import BratError
from runner.proxy.gateway import allowances, header_rules
from runner.proxy.gateway.request_rules import (
    RequestRefused,
    checked,
    fits,
    model_of,
    unreadable,
)
from runner.proxy.gateway.routes import KEY_IN_QUERY, Route, route
from runner.proxy.proxy_protocol import Caps, Metered, Model, Refused, Spent, Told
from runner.proxy.server.answer_relay import AnswerRelay
from runner.proxy.server.dialects import KEY_HEADERS, key_header, said_no
from runner.proxy.server.usage_caps import UsageMeter

BODY_BYTES: Final = 64_000_000
AT_ONCE: Final = 8
"""How many calls may be in flight. A call's tokens are only known at its end, so this
bounds how far a cap can be overshot."""
CONNECT_S: Final = 60.0
OPENAI: Final = "https://api.openai.com"
"""It keeps the answers of both dialects for some accounts.
https://platform.openai.com/docs/guides/migrate-to-responses"""


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
        self._allowed = allowances.read(model.allow)
        self._models = model.models
        self._helpers = (*model.helpers, *self._allowed.models)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        if request.method in ("GET", "HEAD") and request.raw_path == "/":
            # some engines check that the server answers
            return web.Response(text="brat\n")
        if not self._knows(request):
            return self._no(HTTPStatus.UNAUTHORIZED, "This is no key of the session.")
        found = self._route(request)
        if found is None:
            asked = f"{request.method} {request.raw_path}"[:200]
            self._tell_once(Refused(what=asked), asked)
            why = f"brat lets no agent ask for {asked}."
            return self._no(HTTPStatus.NOT_FOUND, why)
        body = await _body(request)
        if body is None:
            why = f"A request may have {BODY_BYTES} bytes."
            return self._no(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
        try:
            body = self._checked(request, found, body)
        except RequestRefused as refused:
            what = f"{refused.what} in a request to its model"
            self._tell_once(Refused(what=what), what)
            return self._no(HTTPStatus.BAD_REQUEST, str(refused))
        async with self._slots:
            if spent := self._meter.spent():
                return self._over(spent)
            self._meter.called()
            return await self._forward(request, found, body)

    def _route(self, request: web.BaseRequest) -> Route | None:
        opened = self._allowed.paths
        return route(self._model.dialect, request.method, request.raw_path, opened)

    def _checked(self, request: web.BaseRequest, asked: Route, body: bytes) -> bytes:
        """Return the body that the vendor gets.

        Raises:
            RequestRefused: no agent may ask that.
        """
        if "Content-Encoding" in request.headers:
            raise unreadable("compressed")
        for name in header_rules.left_out(request.headers.items(), self._allowed):
            what = f"header:anthropic-beta={name[:100]}, which was left out"
            self._tell_once(Refused(what=what), what)
        if asked.purpose == "opened":
            return body
        dialect = self._model.dialect
        own = self._model.upstream == OPENAI
        stores = dialect == "responses" or (dialect == "chat" and own)
        name = model_of(asked, body)
        pinned = self._models or (() if fits(name, self._helpers) else (name,))
        models = (*pinned, *self._helpers)
        body = checked(dialect, asked, body, models, self._allowed, stores=stores)
        self._models = pinned
        return body

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
        self, request: web.BaseRequest, asked: Route, body: bytes
    ) -> web.StreamResponse:
        query = f"?{asked.query}" if asked.query else ""
        upstream = self._model.upstream.rstrip("/")
        url = URL(f"{upstream}{asked.path}{query}", encoded=True)
        try:
            async with self._client.request(
                request.method,
                url,
                headers=self._headers(request),
                data=body or None,
                allow_redirects=False,
                **_way(url),
            ) as answer:
                relay = AnswerRelay(request, answer)
                try:
                    return await relay.pass_on()
                finally:
                    if answer.ok and asked.purpose != "count":
                        self._count(relay.usage(len(body)))
        except BratError as error:
            return self._no(HTTPStatus.BAD_GATEWAY, f"brat: {error}.")
        except (ClientError, TimeoutError) as error:
            why = f"brat cannot reach the model's vendor: {error!r}."
            return self._no(HTTPStatus.BAD_GATEWAY, why)

    def _count(self, used: Metered) -> None:
        self._meter.add(used)
        self._tell(used)

    def _headers(self, request: web.BaseRequest) -> CIMultiDict[str]:
        headers = CIMultiDict(
            header_rules.asked(request.headers.items(), self._allowed)
        )
        headers[self._header] = self._value
        headers["Content-Type"] = _JSON
        # Only uncompressed answers can be counted.
        headers["Accept-Encoding"] = "identity"
        return headers


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
