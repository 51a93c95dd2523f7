"""One token's REST calls to one forge: gidgethub's protocol over httpx, wrapped once.

Reads are retried. A write is retried only if the forge refused it by a limit or for its
token: then nothing has happened. Every library error becomes one of ours here.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeVar

import gidgethub
import httpx
from gidgethub import sansio
from pydantic import BaseModel, ValidationError
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    retry_if_not_exception_type,
    stop_after_attempt,
    wait_exponential_jitter,
)

from bot.forge.http_client import DEADLINE_S, Ask, Reply, TooLarge, Wire
from bot.forge.pace import Limited, Pace
from bot.forge.precedence import Precedence, current
from bot.forge.token_source import StaticToken, Tokens
from grite.errors import BratError, Unavailable

DOWNLOAD_S: Final = 300.0
DOWNLOAD_BYTES: Final = 100_000_000
PAGES: Final = 1000
"""A longer list is taken as endless: its next page leads back."""
SAID_CHARS: Final = 200
NEEDS: Final = "x-accepted-github-permissions"
"""https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api"""

_KNOWN: Final = frozenset(map(int, HTTPStatus))

Json = Any
"""Decoded JSON; a model checks it where it is used."""
Model = TypeVar("Model", bound=BaseModel)
Found = TypeVar("Found")

__all__ = ["DEADLINE_S", "Json", "Limited", "Refused", "Rest", "checked"]


class Refused(BratError):
    """The forge refuses the request, and repeating it will not help."""

    def __init__(
        self,
        what: str,
        status: int,
        said: str,
        *,
        needs: str = "",
        errors: tuple[str, ...] = (),
    ) -> None:
        """Tell what was refused.

        Args:
            what: the method and the address.
            status: of the answer.
            said: its message.
            needs: the header that names permissions, any set of which is enough.
            errors: what the answer names beside its message.
        """
        super().__init__(f"{what}: the forge answered {status}: {said}")
        self.what = what
        self.status = status
        self.said = said
        self.needs = needs
        self.errors = errors


class Rest:
    """The REST calls.

    Each raises `Unavailable` (no answer; a later try may help), its subclass `Limited`
    (nothing was changed; try again at `retry_at`), or `Refused`.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        api_url: str,
        token: str | Tokens,
        pace: Pace | None = None,
    ) -> None:
        """Send nothing yet.

        Args:
            client: may be shared; its setting for redirects is ignored.
            api_url: https://api.github.com, or https://HOST/api/v3.
            token: a token, or a source of tokens.
            pace: shared by all clients of one installation; None: a new pace without
                limits.
        """
        self.tokens = StaticToken(token) if isinstance(token, str) else token
        self.guard: Callable[[], None] = lambda: None
        """Called just before each write is sent, except one that goes at once; it may
        raise."""
        self.answers = 0
        """How often the forge has answered, even with a no."""
        self._wire = Wire(client, api_url)
        self.pace = pace or Pace()
        self._retrying = AsyncRetrying(
            sleep=self.pace.time.sleep,
            retry=retry_if_exception_type(Unavailable)
            & retry_if_not_exception_type((Limited, TooLarge)),
            stop=stop_after_attempt(4),
            wait=wait_exponential_jitter(multiplier=0.2, max=5),
            reraise=True,
        )

    async def get(self, url: str) -> Json:
        """Return the JSON at `url`."""
        return (await self._page(url, url))[0]

    async def read(self, model: type[Model], url: str) -> Model:
        """Return the JSON at `url`, checked by a model."""
        return checked(model, await self.get(url), f"GET {url}")

    async def each(
        self, model: type[Model], url: str, key: str | None = None
    ) -> AsyncIterator[Model]:
        """Give every item of a paginated list; `key` names the list in each page."""
        more: str | None = url
        for _ in range(PAGES):
            if more is None:
                return
            page, more = await self._page(more, url)
            items = page.get(key) if key and isinstance(page, dict) else page
            if not isinstance(items, list):
                raise Unavailable(f"GET {url}: not what GitHub answers: no list")
            for item in items:
                yield checked(model, item, f"GET {url}")
        raise Unavailable(f"GET {url}: not what GitHub answers: {PAGES} pages")

    async def make(self, model: type[Model], url: str, body: object) -> Model:
        """Create something with `write` and return the answer, checked by a model."""
        return checked(model, await self.write("POST", url, body), f"POST {url}")

    async def write(self, method: str, url: str, body: object = None) -> Json:
        """Change something; a write that may have arrived is never repeated."""
        return (await self._answer(method, url, body))[0]

    async def query(self, url: str, body: object) -> Json:
        """Return the answer to a body that only asks; it is repeated as a read is."""

        async def asked() -> Json:
            content = json.dumps(body).encode()
            ask = Ask(method="POST", url=url, body=content, query=True)
            return _deciphered(ask, await self._reply(ask))[0]

        return await self._retrying.copy()(asked)

    async def download(self, url: str) -> bytes:
        """Fetch bytes; the storage server after a redirect never sees the token.

        Raises:
            Refused: also if the answer is larger than `DOWNLOAD_BYTES`.
        """
        return await self._repeated(self._fetched, url)

    async def _fetched(self, url: str) -> bytes:
        ask = Ask(
            method="GET",
            url=url,
            most=DOWNLOAD_BYTES,
            deadline_s=DOWNLOAD_S,
            stored=True,
        )
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
        return await self._repeated(partial(self._answer, list_url=first), "GET", url)

    async def _repeated(
        self, call: Callable[..., Awaitable[Found]], *given: str
    ) -> Found:
        """Repeat a reading call, a few times, until it is answered."""
        return await self._retrying.copy()(call, *given)

    async def _answer(
        self, method: str, url: str, body: object = None, *, list_url: str = ""
    ) -> tuple[Json, str | None]:
        """Make one call and return its answer with the next page's URL."""
        content = None if body is None else json.dumps(body).encode()
        ask = Ask(
            method=method,
            url=url,
            body=content,
            keep=method == "GET",
            precedence=current(),
            list_url=list_url,
        )
        return _deciphered(ask, await self._reply(ask))

    async def _reply(self, ask: Ask) -> Reply:
        """Send one call when the pace allows, and return the forge's reply."""
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


def _deciphered(ask: Ask, reply: Reply) -> tuple[Json, str | None]:
    status = reply.status if reply.status in _KNOWN else reply.status // 100 * 100
    try:
        data, _, more = sansio.decipher_response(status, reply.headers, reply.body)
    except gidgethub.GitHubBroken as error:
        raise Unavailable(f"{ask}: {error!r}") from error
    except gidgethub.HTTPException as error:
        raise _refused(ask, reply, str(error)) from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # no JSON, or errors not in GitHub's format
        if HTTPStatus.BAD_REQUEST <= reply.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Refused(str(ask), reply.status, _text(reply)) from error
        raise Unavailable(f"{ask}: not what GitHub answers") from error
    return data, more


def _refused(ask: Ask, reply: Reply, said: str) -> Refused:
    """Return a refusal, whose text has the permission that is missing."""
    needs = reply.headers.get(NEEDS, "")[:SAID_CHARS]
    if reply.status == HTTPStatus.FORBIDDEN and needs:
        said = f"{said} (the App needs the permission {needs})"
    errors = _errors(reply.body)
    return Refused(str(ask), reply.status, said, needs=needs, errors=errors)


def _errors(body: bytes) -> tuple[str, ...]:
    """Return the sentences of an answer's `errors`, at most ten.

    https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api
    """
    try:
        errors = json.loads(body)["errors"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ()
    listed = errors if isinstance(errors, list) else [errors]
    told = (each.get("message") if isinstance(each, dict) else each for each in listed)
    return tuple(one[:SAID_CHARS] for one in told if isinstance(one, str))[:10]


def _text(reply: Reply) -> str:
    return reply.body[:SAID_CHARS].decode(errors="replace")


def checked(model: type[Model], data: Json, what: str) -> Model:
    """Return `data` as a model; data that does not fit means a broken forge."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Unavailable(f"{what}: not what GitHub answers: {error}") from error
