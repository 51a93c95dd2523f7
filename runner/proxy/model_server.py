"""Takes the agent's calls to its model, and makes them anew with the real key.

The vendor's answer is passed on piece by piece, and its usage is read as it passes. A
connection that the vendor breaks is broken for the agent, too. An answer that the agent
leaves is read on for a while, since its end says what it cost. Vendors differ in how
they take a key and how they word an error; an agent reads ours in its vendor's words.
"""

import asyncio
import hmac
import socket
from collections.abc import Awaitable, Mapping
from http import HTTPStatus
from typing import Any, Final

import aiohttp
import msgspec
from aiohttp import web
from aiohttp.abc import ResolveResult
from multidict import CIMultiDict
from yarl import URL

from grite import outbound
from grite.errors import BratError
from runner.proxy import proxy_protocol as protocol, request_rules
from runner.proxy.usage_reader import UsageMeter, UsageReader, most_of

KEY_HEADERS: Final = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_AUTHORIZATION: Final = "authorization"
_KEY_HEADER_OF: Final[Mapping[protocol.Dialect, str]] = {
    "anthropic": "x-api-key",
    "gemini": "x-goog-api-key",
}
"""All others take it as a bearer's.
https://platform.claude.com/docs/en/api/overview
https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html
https://platform.openai.com/docs/api-reference/authentication
https://ai.google.dev/api"""

_KINDS: Final[Mapping[int, tuple[str, str, str]]] = {
    400: ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
    401: ("authentication_error", "invalid_api_key", "UNAUTHENTICATED"),
    402: ("billing_error", "insufficient_quota", "RESOURCE_EXHAUSTED"),
    404: ("not_found_error", "invalid_request_error", "NOT_FOUND"),
    413: ("request_too_large", "invalid_request_error", "INVALID_ARGUMENT"),
    502: ("api_error", "server_error", "UNAVAILABLE"),
    503: ("overloaded_error", "server_error", "UNAVAILABLE"),
}
"""How Anthropic, OpenAI and Google name what a status means."""
_OTHER_KINDS: Final = ("api_error", "server_error", "UNKNOWN")


LEFT_ANSWER_S: Final = 20.0
"""How long an answer is read on that its agent has left."""


async def _pass_on(
    request: web.BaseRequest, answer: aiohttp.ClientResponse, reader: UsageReader
) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status, reason=answer.reason)
    response.headers.extend(request_rules.answer_headers(answer.headers.items()))
    is_left = False

    async def to_agent(step: Awaitable[object]) -> None:
        nonlocal is_left
        try:
            await step
        except ConnectionError:
            is_left = True
            limit.reschedule(asyncio.get_running_loop().time() + LEFT_ANSWER_S)

    try:
        async with asyncio.timeout(None) as limit:
            await to_agent(response.prepare(request))
            async for chunk in answer.content.iter_any():
                reader.feed(chunk)
                if not is_left:
                    await to_agent(response.write(chunk))
            reader.is_whole = True
            if not is_left:
                await response.write_eof()
    except (aiohttp.ClientError, TimeoutError):
        if request.transport is not None:
            request.transport.abort()
    return response


BODY_BYTES: Final = 64_000_000
BODIES_BYTES: Final = 3 * BODY_BYTES
"""All requests under way together. None waits for room with half of itself in it, for
then all could wait for each other."""
AT_ONCE: Final = 8
CONNECT_S: Final = 60.0
OPENAI: Final = "https://api.openai.com"
"""It keeps the answers of both dialects for some accounts.
https://platform.openai.com/docs/guides/migrate-to-responses"""

PATIENCE: Final = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
"""It waits for answers as long as its caller does."""


class Gate:
    """Passes one session's calls on to one vendor."""

    def __init__(
        self,
        model: protocol.Model,
        meter: UsageMeter,
        client: aiohttp.ClientSession,
        teller: protocol.Teller,
    ) -> None:
        self._model = model
        self._meter = meter
        self._client = client
        self._teller = teller
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._held_bytes = 0
        self._freed = asyncio.Event()
        """Some call has ended since somebody began to wait for room."""
        own = None if model.bearer else _KEY_HEADER_OF.get(model.dialect)
        self._header = own or _AUTHORIZATION
        self._value = model.key if own else f"Bearer {model.key}"
        self._allowed = request_rules.read_allowances(model.allow)
        self._models = model.models
        self._project: str | None = None
        self._helpers = (*model.helpers, *self._allowed.models)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if not outbound.names_this_machine(request.host):
            return self._no(HTTPStatus.MISDIRECTED_REQUEST, "Unknown host name.")
        if request.method in ("GET", "HEAD") and request.raw_path == "/":
            # some engines check that the server answers
            return web.Response(text="brat\n")
        if not self._knows(request):
            why = "This key does not belong to this session."
            return self._no(HTTPStatus.UNAUTHORIZED, why)
        asked_of = self._model.dialect, request.method, request.raw_path
        found = request_rules.route_of(*asked_of, self._allowed.paths)
        if found is None:
            asked = f"{request.method} {request.raw_path}"[:200]
            self._teller.refused(asked)
            why = f"Agents may not request {asked}."
            return self._no(HTTPStatus.NOT_FOUND, why)
        size = 0
        try:
            read = bytearray()
            async for chunk in request.content.iter_any():
                read += chunk
                size += len(chunk)
                self._held_bytes += len(chunk)
                if size > BODY_BYTES:
                    why = f"A request may have at most {BODY_BYTES} bytes."
                    return self._no(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
                if self._held_bytes > BODIES_BYTES:
                    why = f"All requests at once may have at most {BODIES_BYTES} bytes."
                    return self._no(HTTPStatus.SERVICE_UNAVAILABLE, why)
            body = self._checked(request, found, bytes(read))
            del read
            return await self._answered(request, found, body)
        except request_rules.RequestRefused as refused:
            self._teller.refused(f"{refused.what} in a request to its model")
            return self._no(HTTPStatus.BAD_REQUEST, str(refused))
        finally:
            self._held_bytes -= size

    async def _answered(
        self, request: web.BaseRequest, asked: request_rules.Route, body: bytes
    ) -> web.StreamResponse:
        most, meter = most_of(body), self._meter
        async with self._slots:
            while not (spent := meter.spent()) and not meter.begin(most):
                self._freed.clear()
                await self._freed.wait()
            if spent:
                why = f"the session's budget of {spent} is used up"
                self._teller.once("", protocol.Spent(why=why))
                return self._no(HTTPStatus.PAYMENT_REQUIRED, f"brat: {why}.")
            try:
                return await self._forward(request, asked, body)
            finally:
                meter.end(most)
                self._freed.set()

    def _checked(
        self, request: web.BaseRequest, asked: request_rules.Route, body: bytes
    ) -> bytes:
        if "Content-Encoding" in request.headers:
            raise request_rules.unreadable("compressed")
        given = request.headers.items()
        for name in request_rules.request_headers(given, self._allowed)[1]:
            what = f"header:anthropic-beta={name[:100]}, which was left out"
            self._teller.refused(what)
        if asked.purpose == "opened":
            return body
        dialect, said = self._model.dialect, request_rules.decoded(body)
        model, pinned = asked.model or said.get("model"), self._models
        if not pinned and isinstance(model, str) and model:
            pinned = () if request_rules.fits(model, self._helpers) else (model,)
        models = (*pinned, *self._helpers)
        request_rules.check(dialect, asked, said, models, self._allowed)
        stores = dialect == "responses" or (
            dialect == "chat" and self._model.upstream == OPENAI
        )
        if stores and said.get("store") is None:
            said["store"] = False
        if dialect == "code-assist" and asked.purpose == "answer":
            project = str(said.get("project") or "")
            self._project = project if self._project is None else self._project
            if project != self._project:
                what = f"project={project[:100]}"
                raise request_rules.RequestRefused(
                    what, f"brat forwards requests for only one project, not {what}."
                )
        self._models = pinned
        return msgspec.json.encode(said)

    def _knows(self, request: web.BaseRequest) -> bool:
        given = [request.headers.get(name, "") for name in KEY_HEADERS]
        given.append(request.query.get(request_rules.KEY_IN_QUERY, ""))
        token = self._model.token.encode()
        return any(
            hmac.compare_digest(each.removeprefix("Bearer ").encode(), token)
            for each in given
        )

    def _no(self, status: HTTPStatus, why: str) -> web.Response:
        """Return an error in the vendor's own form."""
        anthropic, openai, google = _KINDS.get(status, _OTHER_KINDS)
        body: dict[str, Any]
        match self._model.dialect:
            case "anthropic" | "bedrock" | "vertex":
                body = {"type": "error", "error": {"type": anthropic, "message": why}}
            case "gemini" | "gemini-vertex" | "code-assist":
                body = {"error": {"code": status, "message": why, "status": google}}
            case _:
                error = {"message": why, "type": openai, "param": None, "code": openai}
                body = {"error": error}
        return web.json_response(
            status=status, body=msgspec.json.encode(body), content_type=_JSON
        )

    async def _forward(
        self, request: web.BaseRequest, asked: request_rules.Route, body: bytes
    ) -> web.StreamResponse:
        query = f"?{asked.query}" if asked.query else ""
        upstream = self._model.upstream.rstrip("/")
        path = asked.path.removeprefix(self._model.cut)
        url = URL(f"{upstream}{path}{query}", encoded=True)
        given = request.headers.items()
        headers = CIMultiDict(request_rules.request_headers(given, self._allowed)[0])
        headers[self._header] = self._value
        if self._model.account:
            headers["chatgpt-account-id"] = self._model.account
        headers["Content-Type"] = _JSON
        # Only uncompressed answers can be counted.
        headers["Accept-Encoding"] = "identity"
        try:
            ours = outbound.here()
            way: dict[str, Any] = {"proxy": ours.proxy(str(url)) or None}
            if url.scheme == "https":
                way["ssl"] = ours.authorities()
            async with self._client.request(
                request.method,
                url,
                headers=headers,
                data=body or None,
                allow_redirects=False,
                **way,
            ) as answer:
                reader = UsageReader(answer.content_type)
                try:
                    return await _pass_on(request, answer, reader)
                finally:
                    if answer.ok and asked.purpose in ("answer", "opened"):
                        used = reader.read(len(body), is_cut=not reader.is_whole)
                        self._meter.add(used)
                        self._teller.tell(used)
        except BratError as error:
            return self._no(HTTPStatus.BAD_GATEWAY, f"brat: {error}.")
        except (aiohttp.ClientError, TimeoutError) as error:
            why = f"brat cannot reach the model's vendor: {error!r}."
            return self._no(HTTPStatus.BAD_GATEWAY, why)


_JSON: Final = "application/json"


class OutsideOnly(aiohttp.ThreadedResolver):
    """Looks a name up once, and leaves out the addresses inside this network."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await super().resolve(host, port, family)
        if open_to := [each for each in found if protocol.is_outside(each["host"])]:
            return open_to
        raise OSError(
            f"{host} resolves to {found[0]['host']}, which is not on the public "
            "internet; to use it anyway, set BRAT_MODEL_URL in the job's environment"
        )


def model_client(model: protocol.Model) -> aiohttp.ClientSession:
    """Return what asks the vendor; a proxy of this machine looks up names itself."""
    is_direct = not outbound.here().proxy(model.upstream)
    resolver = OutsideOnly() if model.outside and is_direct else None
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=resolver),
        auto_decompress=False,
        timeout=PATIENCE,
    )
