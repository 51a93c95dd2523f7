"""One token's calls to one forge: gidgethub's protocol over httpx, wrapped once.

Reads are retried. A write is retried only if the forge refused it by a limit or for its
token: then nothing has happened. Every library error becomes one of ours here. GraphQL
is for what REST does not tell or do.
https://docs.github.com/graphql/guides/forming-calls-with-graphql
"""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import gidgethub
import httpx
import tenacity
from gidgethub import sansio
from pydantic import BaseModel, ValidationError

from bot.forge.pace import Limited, Pace
from bot.forge.payloads import Payload
from bot.forge.transport import (
    Ask,
    HttpReply,
    Precedence,
    TooLarge,
    Wire,
    current_precedence,
)
from grite.errors import BratError, Unavailable


class Tokens(Protocol):
    """A source of one credential that may change over time."""

    async def token(self) -> str:
        """Return a token that is valid for minutes; git may use it too."""
        ...

    def spoiled(self, token: str) -> bool:
        """Note that the forge rejected `token`; return whether to try another."""
        ...


class StaticToken:
    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self) -> str:
        return self._token

    def spoiled(self, token: str) -> bool:  # noqa: ARG002  there is only one
        return False


DOWNLOAD_S: Final = 300.0
DOWNLOAD_BYTES: Final = 100_000_000
LIST_PAGES: Final = 1000
"""A longer list is taken as endless: its next page leads back."""
SAID_CHARS: Final = 200
QUERIES: Final = dict(
    re.findall(
        r"^# (\w+)\n(.+?)(?:\n\n|\n\Z)",
        Path(__file__).with_name("queries.graphql").read_text(),
        re.MULTILINE | re.DOTALL,
    )
)
"""The GraphQL queries and mutations, by name."""
NEEDS: Final = "x-accepted-github-permissions"
"""https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api"""

_KNOWN: Final = frozenset(map(int, HTTPStatus))

Json = Any
"""Decoded JSON; a model checks it where it is used."""
Model = TypeVar("Model", bound=BaseModel)
Found = TypeVar("Found")


@dataclass(eq=False, repr=False)
class Refused(BratError):
    """The forge refuses the request, and repeating it will not help."""

    what: str
    status: int
    said: str
    needs: str = ""
    """Sets of permissions, of which any is enough."""
    errors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__init__(f"{self.what}: the forge returned {self.status}: {self.said}")


class Unless:
    """Ends its block where the forge refuses it with one of these statuses."""

    def __init__(self, *statuses: int) -> None:
        self._statuses = statuses

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        return isinstance(error, Refused) and error.status in self._statuses


ABSENT: Final = Unless(HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
HIDDEN: Final = Unless(HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
"""What the bot may not see, or what is not there."""


class Rest:
    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        api_url: str,
        token: str | Tokens,
        pace: Pace | None = None,
    ) -> None:
        """Send nothing yet.

        `api_url` is https://api.github.com, or https://HOST/api/v3. A pace is shared by
        all clients of one installation; None: a new one without limits.
        """
        self.tokens = StaticToken(token) if isinstance(token, str) else token
        self.guard: Callable[[], None] = lambda: None
        """Called just before each write is sent, except one that goes at once; it may
        raise."""
        self.answers = 0
        """How often the forge has answered, even with a no."""
        self._wire = Wire(client, api_url)
        self._graphql = f"{api_url.rstrip('/').removesuffix('/v3')}/graphql"
        self.pace = pace or Pace()
        self._retrying = tenacity.AsyncRetrying(
            sleep=self.pace.time.sleep,
            retry=tenacity.retry_if_exception_type(Unavailable)
            & tenacity.retry_if_not_exception_type((Limited, TooLarge)),
            stop=tenacity.stop_after_attempt(4),
            wait=tenacity.wait_exponential_jitter(multiplier=0.2, max=5),
            reraise=True,
        )

    async def get(self, url: str) -> Json:
        return (await self._page(url, url))[0]

    async def read(self, model: type[Model], url: str) -> Model:
        return checked(model, await self.get(url), f"GET {url}")

    async def each(
        self, model: type[Model], url: str, key: str | None = None
    ) -> AsyncIterator[Model]:
        """Give every item of a paginated list; `key` names the list in each page."""
        more: str | None = url
        for _ in range(LIST_PAGES):
            if more is None:
                return
            page, more = await self._page(more, url)
            items = page.get(key) if key and isinstance(page, dict) else page
            if not isinstance(items, list):
                raise Unavailable(f"GET {url}: invalid GitHub response: not a list")
            for item in items:
                yield checked(model, item, f"GET {url}")
        raise Unavailable(f"GET {url}: invalid GitHub response: {LIST_PAGES} pages")

    async def first(self, model: type[Model], url: str, most: int) -> list[Model]:
        """Return the first items of a list, asking for no page beyond them."""
        found: list[Model] = []
        async for item in self.each(model, url):
            found.append(item)
            if len(found) == most:
                break
        return found

    async def all(
        self, model: type[Model], url: str, key: str | None = None
    ) -> list[Model]:
        return [item async for item in self.each(model, url, key)]

    async def make(self, model: type[Model], url: str, body: object) -> Model:
        return checked(model, await self.write("POST", url, body), f"POST {url}")

    async def write(self, method: str, url: str, body: object = None) -> Json:
        """Change something; a write that may have arrived is never repeated."""
        content = None if body is None else json.dumps(body).encode()
        precedence = current_precedence.get()
        ask = Ask(method, url, body=content, precedence=precedence)
        return (await self._asked(ask))[0]

    async def ask(self, model: type[Model], query: str, named: object) -> Model:
        """Return the `data` of the answer to one of `QUERIES`, repeated as a read is.

        Refused with status 404: the forge has no GraphQL; with 410: what was asked
        about is not there.
        """
        content = json.dumps({"query": QUERIES[query], "variables": named}).encode()
        ask = Ask("POST", self._graphql, body=content, query=True)
        answer, _ = await self._repeated(self._asked, ask)
        return _data_in(model, answer, str(ask))

    async def change(self, mutation: str, named: object) -> None:
        """Send a mutation, one of `QUERIES`, once."""
        content = {"query": QUERIES[mutation], "variables": named}
        answer = await self.write("POST", self._graphql, content)
        _data_in(Payload, answer, f"POST {self._graphql}")

    async def download(self, url: str, most: int = DOWNLOAD_BYTES) -> bytes:
        """Fetch at most `most` bytes; the storage server never sees the token."""
        ask = Ask("GET", url, most=most, deadline_s=DOWNLOAD_S, stored=True)
        return await self._repeated(self._fetched, ask)

    async def _fetched(self, ask: Ask) -> bytes:
        try:
            reply = await self._reply(ask)
        except TooLarge as error:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            raise Refused(str(ask), status, str(error)) from error
        if reply.status == HTTPStatus.OK:
            return reply.body
        said = _text(reply)
        busy = reply.status == HTTPStatus.TOO_MANY_REQUESTS
        if busy or reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unavailable(f"{ask}: {reply.status}")
        raise Refused(str(ask), reply.status, said)

    async def _page(self, url: str, first: str) -> tuple[Json, str | None]:
        """Read one page of a list that begins at `first`; return the next one, too."""
        precedence = current_precedence.get()
        ask = Ask("GET", url, keep=True, precedence=precedence, list_url=first)
        return await self._repeated(self._asked, ask)

    async def _repeated(
        self, call: Callable[[Ask], Awaitable[Found]], ask: Ask
    ) -> Found:
        """Repeat a reading call, a few times, until it is answered."""
        return await self._retrying.copy()(call, ask)

    async def _asked(self, ask: Ask) -> tuple[Json, str | None]:
        reply = await self._reply(ask)
        code = reply.status
        status = code if code in _KNOWN else code // 100 * 100
        try:
            data, _, more = sansio.decipher_response(status, reply.headers, reply.body)
        except gidgethub.GitHubBroken as error:
            raise Unavailable(f"{ask}: {error!r}") from error
        except gidgethub.HTTPException as error:
            raise _refused(ask, reply, str(error)) from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            # no JSON, or errors not in GitHub's format
            if HTTPStatus.BAD_REQUEST <= code < HTTPStatus.INTERNAL_SERVER_ERROR:
                raise Refused(str(ask), code, _text(reply)) from error
            raise Unavailable(f"{ask}: invalid GitHub response") from error
        return data, more

    async def _reply(self, ask: Ask) -> HttpReply:
        visit = self.pace.visit(ask)
        renewed = False
        while True:
            token = await self.tokens.token()
            async with self.pace.turn(visit):
                if not ask.reads and ask.precedence is not Precedence.AT_ONCE:
                    self.guard()
                reply = await self._wire.send(ask, token)
            self.answers += reply.status < HTTPStatus.INTERNAL_SERVER_ERROR
            if self.pace.again(visit, reply):
                continue
            unknown = reply.own and reply.status == HTTPStatus.UNAUTHORIZED
            if not unknown or renewed or not self.tokens.spoiled(token):
                return reply
            renewed = True


def _refused(ask: Ask, reply: HttpReply, said: str) -> Refused:
    """Return the refusal with at most ten sentences of the answer's `errors`."""
    needs = reply.headers.get(NEEDS, "")[:SAID_CHARS]
    if reply.status == HTTPStatus.FORBIDDEN and needs:
        said = f"{said} (required permission: {needs})"
    listed: list[Any] = []
    with suppress(ValueError, LookupError, TypeError, RecursionError):
        found = json.loads(reply.body)["errors"]
        listed = found if isinstance(found, list) else [found]
    told = (each.get("message") if isinstance(each, dict) else each for each in listed)
    errors = tuple(one[:SAID_CHARS] for one in told if isinstance(one, str))[:10]
    return Refused(str(ask), reply.status, said, needs=needs, errors=errors)


def _text(reply: HttpReply) -> str:
    return reply.body[:SAID_CHARS].decode(errors="replace")


def checked(model: type[Model], data: Json, what: str) -> Model:
    """Return `data` as a model; data that does not fit means a broken forge."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Unavailable(f"{what}: invalid GitHub response: {error}") from error


_PASSING: Final = frozenset({"RATE_LIMITED", "RATE_LIMIT", "SERVICE_UNAVAILABLE"})
_ERRORS_TOLD: Final = 5


class _GraphQlError(Payload):
    message: str = ""
    type: str = ""


class _GraphQlAnswer(Payload):
    data: Any = None
    errors: tuple[_GraphQlError, ...] = ()


def _data_in(model: type[Model], answer: object, what: str) -> Model:
    found = checked(_GraphQlAnswer, answer, what)
    if not found.errors:
        return checked(model, found.data, what)
    said = "; ".join(error.message for error in found.errors[:_ERRORS_TOLD])
    types = {error.type for error in found.errors}
    if types & _PASSING:
        raise Unavailable(f"{what}: {said}")
    gone = types == {"NOT_FOUND"}
    status = HTTPStatus.GONE if gone else HTTPStatus.UNPROCESSABLE_ENTITY
    raise Refused(what, status, said)


class Part:
    """A subject of one repository: what is asked, and done, there."""

    def __init__(self, rest: Rest, repository: str, workflow: str = "") -> None:
        self._rest = rest
        self._workflow = workflow
        self._repo = f"/repos/{repository}"
        owner, _, name = repository.partition("/")
        self._named = {"owner": owner, "name": name}
