"""Where webhooks go in tests: it keeps what came, or answers as it is told."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from bot.door.listening import listening
from tests.world.patience import patient

DEADLINE_S = patient(10)


@dataclass
class Delivery:
    headers: dict[str, str]
    body: bytes

    @property
    def kind(self) -> str:
        """`event.action`, or the event where there is no action."""
        action = self.json.get("action")
        event = self.headers["X-GitHub-Event"]
        return f"{event}.{action}" if action else event

    @property
    def json(self) -> dict[str, Any]:
        payload: dict[str, Any] = json.loads(self.body)
        return payload


@dataclass
class Receiver:
    """A webhook's other end."""

    url: str = ""
    status: int = 202
    came: list[Delivery] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def take(self, request: web.Request) -> web.Response:
        async with self.news:
            self.came.append(Delivery(dict(request.headers), await request.read()))
            self.news.notify_all()
        return web.Response(status=self.status)

    async def got(self, kind: str) -> Delivery:
        async with asyncio.timeout(DEADLINE_S), self.news:
            await self.news.wait_for(lambda: kind in self.kinds)
        return next(one for one in self.came if one.kind == kind)

    @property
    def kinds(self) -> list[str]:
        return [one.kind for one in self.came]


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_route("*", "/hook{below:.*}", receiver.take)
    async with listening(app, "127.0.0.1", 0) as port:
        receiver.url = f"http://127.0.0.1:{port}/hook"
        yield receiver
