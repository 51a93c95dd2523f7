"""A forge as it is on a bad day: an HTTP proxy that forgets and lags.

Git passes; each call of the REST API may go wrong, as a test says.
"""

import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import httpx
from aiohttp import web

from bot.door.listening import listening
from tests.world.patience import patient

_UNDECIDED: Final = re.compile(rb'"mergeable":(?:true|false)')
"""GitHub has not thought of it yet, all day long."""
_DROPPED: Final = {"content-length", "transfer-encoding", "content-encoding"}


@dataclass
class BadDay:
    """What goes wrong, and what did."""

    happened: Counter[str] = field(default_factory=Counter)
    """How often each fault was played."""
    _known: dict[str, tuple[int, bytes, dict[str, str]]] = field(default_factory=dict)
    round: int = 0
    """In the one of the newest write a stale read may show what was before."""
    _written: int = -1

    def fault(self, method: str, path: str) -> str:
        """Return what goes wrong with a call; empty: nothing."""
        return ""

    def wrote(self) -> None:
        """Note that the forge was changed just now."""
        self._written = self.round

    def keep(self, url: str, answer: httpx.Response) -> None:
        """Remember what a read showed."""
        if answer.status_code == 200:
            shown = answer.status_code, answer.content, dict(answer.headers)
            self._known[url] = shown

    def stale(self, url: str) -> tuple[int, bytes, dict[str, str]] | None:
        """Return what a read showed before the newest write, while that may lag."""
        return self._known.get(url) if self._written == self.round else None


class _Proxy:
    def __init__(self, target: str, day: BadDay, client: httpx.AsyncClient) -> None:
        self._target, self._day, self._client = target, day, client

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        is_rest = path.startswith("/api/v3")
        fault = self._day.fault(request.method, path) if is_rest else ""
        body = await request.read()
        url = str(request.rel_url)
        if fault == "stale" and (known := self._day.stale(url)) is not None:
            self._day.happened[fault] += 1
            status, content, headers = known
            return web.Response(status=status, body=content, headers=_kept(headers))
        answer = await self._ask(request, url, body)
        if fault == "500 after":
            self._day.happened[fault] += 1
            return web.Response(status=500, text="<html>Unicorn!</html>")
        headers = _kept(dict(answer.headers))
        body = _UNDECIDED.sub(b'"mergeable":null', answer.content)
        return web.Response(status=answer.status_code, body=body, headers=headers)

    async def _ask(self, request: web.Request, url: str, body: bytes) -> httpx.Response:
        headers = {
            name: value
            for name, value in request.headers.items()
            # Unchanged pages are the forge's own business: a lag would hide them.
            if name.lower() not in {"host", "content-length", "if-none-match"}
        }
        answer = await self._client.request(
            request.method, self._target + url, content=body, headers=headers
        )
        if request.path.startswith("/api/v3"):
            if request.method == "GET":
                self._day.keep(url, answer)
            else:
                self._day.wrote()
        return answer


def _kept(headers: dict[str, str]) -> dict[str, str]:
    return {name: v for name, v in headers.items() if name.lower() not in _DROPPED}


@asynccontextmanager
async def bad_day(target: str, day: BadDay) -> AsyncIterator[str]:
    """Serve a forge through its bad day; give the address where it answers."""
    async with httpx.AsyncClient(trust_env=False, timeout=patient(60)) as client:
        app = web.Application(client_max_size=200_000_000)
        app.router.add_route("*", "/{any:.*}", _Proxy(target, day, client).pass_on)
        async with listening(app, "127.0.0.1", 0) as port:
            yield f"http://127.0.0.1:{port}"
