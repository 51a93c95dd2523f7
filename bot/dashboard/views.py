"""The pages that people ask for."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from bot.dashboard import api, lists, pages
from bot.dashboard.lines import MOST
from bot.dashboard.lookup import convoy_of, task_of
from bot.dashboard.made import Made, Shelf
from bot.dashboard.paging import part
from bot.dashboard.porch import Porch, sight_of
from bot.dashboard.stream import stream

Given = Callable[[], Mapping[str, Any]]
"""Gives what a page shows."""


class Views:
    """Answers people who look."""

    def __init__(self, porch: Porch) -> None:
        """Take who says what each visitor may."""
        self._porch = porch
        self._shelf = Shelf()

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return all pages, below a path."""
        task = base + api.TASK
        return [
            web.get(f"{base}/", self._overview),
            web.get(f"{base}/waits", self._waits),
            web.get(f"{base}/tasks", self._tasks),
            web.get(f"{base}/sessions", self._sessions),
            web.get(f"{base}/convoys", self._convoys),
            web.get(f"{base}/convoys/{{convoy}}", self._convoy),
            web.get(task, self._task),
            web.get(task + "/output", self._output),
            web.get(f"{base}/log", self._log),
            web.get(f"{base}/events", self._events),
        ]

    async def _page(
        self, request: web.Request, name: str, given: Given
    ) -> web.Response:
        """Give a page, made once for all who ask for it in the same seconds."""
        sight = sight_of(request)
        visitor = await self._porch.visitor(request, sight)

        def make() -> str:
            return pages.page(name, sight, request.path_qs, visitor, **given())

        return self._shelf.page(request, sight, visitor, make).answer(request)

    async def _overview(self, request: web.Request) -> web.Response:
        return await self._page(
            request, "overview", lambda: pages.overview(sight_of(request))
        )

    # --- lists ------------------------------------------------------------------------

    async def _list(
        self, request: web.Request, name: str, found: Callable[[], lists.Found]
    ) -> web.Response:
        def given() -> Mapping[str, Any]:
            rows, more = found()
            return {"part": part(rows, request.query.get("page", "")), **more}

        return await self._page(request, name, given)

    async def _waits(self, request: web.Request) -> web.Response:
        return await self._list(
            request, "waits", lambda: lists.waits(sight_of(request))
        )

    async def _tasks(self, request: web.Request) -> web.Response:
        wanted = request.query.get("state", "")
        return await self._list(
            request, "tasks", lambda: lists.tasks(sight_of(request).state, wanted)
        )

    async def _sessions(self, request: web.Request) -> web.Response:
        return await self._list(
            request, "sessions", lambda: lists.sessions(sight_of(request).state)
        )

    async def _convoys(self, request: web.Request) -> web.Response:
        return await self._list(
            request, "convoys", lambda: lists.convoys(sight_of(request).state)
        )

    async def _log(self, request: web.Request) -> web.Response:
        sight, query = sight_of(request), request.query
        lines = await asyncio.to_thread(sight.house.log, MOST)
        wanted, words = query.get("convoy", ""), query.get("words", "")
        return await self._list(
            request, "log", lambda: lists.lines(sight.state, lines, wanted, words)
        )

    # --- one thing --------------------------------------------------------------------

    async def _convoy(self, request: web.Request) -> web.Response:
        sight = sight_of(request)
        convoy = convoy_of(sight.state, request)
        return await self._page(
            request, "convoy", lambda: pages.of_convoy(sight.state, convoy, sight.now)
        )

    async def _task(self, request: web.Request) -> web.Response:
        """Give a task's page, with what its session printed until this moment."""
        sight = sight_of(request)
        convoy, task = task_of(sight.state, request)
        output = await sight.house.printed(convoy, task)
        visitor = await self._porch.visitor(request, sight)
        shown = pages.of_task(sight.state, convoy, task, sight.now, output)
        text = pages.page("task", sight, request.path_qs, visitor, **shown)
        return Made(text.encode(), secret=bool(visitor.csrf)).answer(request)

    async def _output(self, request: web.Request) -> web.Response:
        """Give what a session printed; 286 tells htmx that it asks for the last time.

        https://htmx.org/docs/#polling
        """
        convoy, task = task_of(sight_of(request).state, request)
        text = pages.escaped(await sight_of(request).house.printed(convoy, task))
        status = 200 if task.attempt else 286
        return web.Response(text=text, content_type="text/html", status=status)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        return await stream(request, sight_of(request).news)
