"""The dashboard's routes, and the checks and headers common to all of them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

from aiohttp import web

from bot.dashboard import api, assets, error_pages, token_access
from bot.dashboard.access_policy import AccessPolicy, RepositoryView, attach
from bot.dashboard.buttons import Buttons
from bot.dashboard.dashboard_source import DashboardSource
from bot.dashboard.mcp_endpoint import McpEndpoint
from bot.dashboard.state_watcher import StateWatcher
from bot.dashboard.stream import Stream
from bot.dashboard.views import Views
from bot.door.listening import listener_at, serving_on
from grite.errors import BratError

PORT: Final = 5173
FORM_BYTES: Final = 64 * 1024

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Dashboard:
    """Answers every request of one dashboard; for one event loop."""

    def __init__(self, access: AccessPolicy, base: str = "") -> None:
        """Serve below the path `base`; `access` decides which requests are allowed."""
        self._access = access
        self._base = base

    def application(self) -> web.Application:
        """Return the web application."""
        app = web.Application(middlewares=[self._guarded], client_max_size=FORM_BYTES)
        base, stream = self._base, Stream(self._access)
        app.add_routes(
            [
                *Views(self._access).routes(base),
                *api.Api().routes(base),
                *McpEndpoint(self._access).routes(base),
                *Buttons(self._access).routes(base),
                web.get(f"{base}/events", stream.answer),
                web.get(f"{base}{api.ROOT}/events", stream.answer),
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
            welcome = await self._access.admit(request)
            if welcome is None and (view := await self._access.view(request)):
                attach(request, view)
            answer = welcome or await handler(request)
        except BratError as error:
            fault = web.HTTPServiceUnavailable(text=f"{error}; try again.\n")
            answer = error_pages.told(request, fault)
        except web.HTTPException as error:
            if error.status < HTTPStatus.BAD_REQUEST:  # a redirect
                error.headers.update(token_access.HEADERS)
                raise
            answer = error_pages.told(request, error)
        if not answer.prepared:
            for name, value in token_access.HEADERS.items():
                answer.headers.setdefault(name, value)
        return answer


async def _healthy(_request: web.Request) -> web.Response:
    return web.Response(text="ok\n")


@asynccontextmanager
async def serving(source: DashboardSource, port: int = PORT) -> AsyncIterator[str]:
    """Serve a dashboard on loopback and give its address.

    Args:
        source: the repository to show.
        port: the port; if it is taken or 0, the system chooses another.
    """
    watcher = StateWatcher(source.read, source.here, source.checks)
    await watcher.look()
    access = token_access.TokenAccess(RepositoryView(source, watcher))
    app = Dashboard(access).application()
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(watcher.keep_looking(), name="dashboard watcher")
        try:
            listener = listener_at("127.0.0.1", port, or_any_port=True)
            async with serving_on(listener, app) as bound:
                yield f"http://localhost:{bound}"
        finally:
            looking.cancel()
