"""The dashboard's routes, and what holds for all of them."""

import asyncio
import errno
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

from aiohttp import web

from bot.dashboard import access, api, assets, faults
from bot.dashboard.buttons import Buttons
from bot.dashboard.house import House
from bot.dashboard.news import News
from bot.dashboard.porch import Porch, Sight, bring
from bot.dashboard.views import Views
from grite.errors import BratError

PORT: Final = 5173
FORM_BYTES: Final = 64 * 1024

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Dashboard:
    """Answers every request of one dashboard; for one event loop."""

    def __init__(self, porch: Porch, base: str = "") -> None:
        """Take who decides who comes in, and what each path begins with."""
        self._porch = porch
        self._base = base

    def application(self) -> web.Application:
        """Return the web application."""
        app = web.Application(middlewares=[self._guarded], client_max_size=FORM_BYTES)
        base = self._base
        app.add_routes(
            [
                *Views(self._porch).routes(base),
                *api.Api().routes(base),
                *Buttons(self._porch).routes(base),
                web.get("/healthz", _healthy),
                web.get("/static/{digest}/{name}", assets.give),
            ]
        )
        return app

    # --- what holds for all -----------------------------------------------------------

    @web.middleware
    async def _guarded(
        self, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        answer: web.StreamResponse
        try:
            welcome = await self._porch.admit(request)
            if welcome is None and (sight := await self._porch.sight(request)):
                bring(request, sight)
            answer = welcome or await handler(request)
        except BratError as error:
            fault = web.HTTPServiceUnavailable(text=f"{error}; try again.\n")
            answer = faults.told(request, fault)
        except web.HTTPException as error:
            if error.status < HTTPStatus.BAD_REQUEST:  # to somewhere else
                error.headers.update(access.HEADERS)
                raise
            answer = faults.told(request, error)
        if not answer.prepared:
            for name, value in access.HEADERS.items():
                answer.headers.setdefault(name, value)
        return answer


async def _healthy(_request: web.Request) -> web.Response:
    return web.Response(text="ok\n")


@asynccontextmanager
async def serving(house: House, port: int = PORT) -> AsyncIterator[str]:
    """Serve a dashboard on loopback and give its address.

    Args:
        house: what it is of.
        port: where; when it is taken, and for 0, the system chooses another one.
    """
    news = News(house.read, house.here)
    await news.look()
    runner = web.AppRunner(
        Dashboard(access.TokenPorch(Sight(house, news))).application(),
        access_log=None,
        shutdown_timeout=1,
    )
    await runner.setup()
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(news.keep_looking(), name="dashboard news")
        try:
            await _listen(runner, port)
            yield f"http://localhost:{runner.addresses[0][1]}"
        finally:
            looking.cancel()
            await runner.cleanup()


async def _listen(runner: web.AppRunner, port: int) -> None:
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        await web.TCPSite(runner, "127.0.0.1", 0).start()
