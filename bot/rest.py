"""One token's REST calls to one forge: gidgethub's protocol over httpx, wrapped once.

Reads are retried; writes never are. Every library error becomes one of ours here.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any, Final, TypeVar

import gidgethub
import httpx
from gidgethub import abc as gidgethub_abc
from pydantic import BaseModel, ValidationError
from tenacity import (
    retry,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential_jitter,
)

from grite.errors import BratError, Unavailable

DEADLINE_S: Final = 30.0
TOO_MANY: Final = HTTPStatus.TOO_MANY_REQUESTS
ACCEPT: Final = "application/vnd.github+json"

Json = Any
"""Decoded JSON; a model checks it where it is used."""
Model = TypeVar("Model", bound=BaseModel)


class Refused(BratError):
    """The forge will not do it, and asking again will not help."""

    def __init__(self, what: str, status: int, said: str) -> None:
        super().__init__(f"{what}: the forge answered {status}: {said}")
        self.status = status


class _Protocol(gidgethub_abc.GitHubAPI):
    """gidgethub's protocol over one httpx client."""

    def __init__(self, client: httpx.AsyncClient, token: str, base_url: str) -> None:
        super().__init__("brat", oauth_token=token, base_url=base_url)
        self._client = client

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> tuple[int, Mapping[str, str], bytes]:
        response = await self._client.request(
            method, url, headers=dict(headers), content=body
        )
        return response.status_code, response.headers, response.content

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


_reading = retry(
    retry=retry_if_exception_type(Unavailable),
    stop=stop_after_attempt(4),
    wait=wait_exponential_jitter(multiplier=0.2, max=5),
    reraise=True,
)


class Rest:
    """The calls. Each raises `Unavailable` (no answer; later may help) or `Refused`."""

    def __init__(self, client: httpx.AsyncClient, *, api_url: str, token: str) -> None:
        self._client = client
        self._token = token
        self._protocol = _Protocol(client, token, api_url)

    @_reading
    async def get(self, url: str) -> Json:
        """Return what is at `url`."""
        return (await self._answer("GET", url))[0]

    async def read(self, model: type[Model], url: str) -> Model:
        """Return what is at `url`, checked by a model."""
        return checked(model, await self.get(url), f"GET {url}")

    async def each(
        self, model: type[Model], url: str, key: str | None = None
    ) -> AsyncIterator[Model]:
        """Give every item of a paginated list; `key` names the list in each page."""
        more: str | None = url
        while more:
            page, more = await self._page(more)
            items = page.get(key) if key and isinstance(page, dict) else page
            if not isinstance(items, list):
                raise Unavailable(f"GET {url}: not what GitHub answers: no list")
            for item in items:
                yield checked(model, item, f"GET {url}")

    async def make(self, model: type[Model], url: str, body: object) -> Model:
        """Make something and return what the forge says of it; never repeated."""
        return checked(model, await self.write("POST", url, body), f"POST {url}")

    async def write(self, method: str, url: str, body: object = None) -> Json:
        """Change something; never repeated."""
        return (await self._answer(method, url, body))[0]

    @_reading
    async def download(self, url: str) -> bytes:
        """Fetch bytes; storage that it is redirected to never sees the token."""
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            answer = await self._client.get(
                self._protocol.base_url + url, headers=headers
            )
            if answer.has_redirect_location:
                storage = answer.url.join(answer.headers["location"])
                answer = await self._client.get(storage)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(f"GET {url}: {error!r}") from error
        if answer.is_success:
            return answer.content
        if answer.is_server_error or answer.status_code == TOO_MANY:
            raise Unavailable(f"GET {url}: {answer.status_code}")
        raise Refused(f"GET {url}", answer.status_code, answer.text[:200])

    @_reading
    async def _page(self, url: str) -> tuple[Json, str | None]:
        return await self._answer("GET", url)

    async def _answer(
        self, method: str, url: str, body: object = None
    ) -> tuple[Json, str | None]:
        """Make one request and return what it answered, with the next page's URL."""
        content = b"" if body is None else body
        try:
            async with asyncio.timeout(DEADLINE_S):
                data, more, _ = await self._protocol._make_request(  # noqa: SLF001  the
                    # one entry that gives the next page's URL with the data
                    method,
                    url,
                    {},
                    content,
                    ACCEPT,
                )
        except (httpx.HTTPError, TimeoutError, gidgethub.GitHubBroken) as error:
            raise Unavailable(f"{method} {url}: {error!r}") from error
        except gidgethub.HTTPException as error:
            if _is_limit(error):
                raise Unavailable(f"{method} {url}: {error}") from error
            status = int(error.status_code)
            raise Refused(f"{method} {url}", status, str(error)) from error
        except (ValueError, LookupError) as error:  # no JSON, or no status of HTTP's
            raise Unavailable(f"{method} {url}: not what GitHub answers") from error
        return data, more


def _is_limit(error: gidgethub.HTTPException) -> bool:
    """Whether the forge only wants to be asked later.

    Source: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """
    if isinstance(error, gidgethub.RateLimitExceeded):
        return True
    return error.status_code == TOO_MANY or "retry-after" in (error.headers or {})


def checked(model: type[Model], data: Json, what: str) -> Model:
    """Return `data` as a model; what does not fit is an answer of a broken forge."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Unavailable(f"{what}: not what GitHub answers: {error}") from error
