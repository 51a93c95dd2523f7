"""Handles the requests for pages."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any

from aiohttp import web

from bot.dashboard import analytics_page, api, lists, page_contents, replay
from bot.dashboard.access_policy import AccessPolicy, view_of
from bot.dashboard.agents_at_work import at_work
from bot.dashboard.log_tail import MOST
from bot.dashboard.page_cache import CachedPage, PageCache
from bot.dashboard.paging import part
from bot.dashboard.path_lookup import convoy_of, task_of
from bot.dashboard.printed_search import printed
from bot.dashboard.task_attempts import attempts, session_of

Given = Callable[[], Mapping[str, Any]]
"""Returns a page's values."""


class Views:
    """Answers requests for pages."""

    def __init__(self, access: AccessPolicy) -> None:
        """Let `access` decide each visitor's rights."""
        self._access = access
        self._shelf = PageCache()

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return the routes of all pages, below a path."""
        task = base + api.TASK
        return [
            web.get(f"{base}/", self._overview),
            web.get(f"{base}/waits", self._waits),
            web.get(f"{base}/tasks", self._tasks),
            web.get(f"{base}/sessions", self._sessions),
            web.get(f"{base}/convoys", self._convoys),
            web.get(f"{base}/convoys/{{convoy}}", self._convoy),
            web.get(f"{base}/convoys/{{convoy}}/replay", self._replay),
            web.get(task, self._task),
            web.get(task + "/output", self._output),
            web.get(f"{base}/log", self._log),
            web.get(f"{base}/search", self._search),
            web.get(f"{base}/analytics", self._analytics),
            web.get(f"{base}/analytics.csv", self._table),
        ]

    async def _page(
        self, request: web.Request, name: str, given: Given
    ) -> web.Response:
        """Give a page; requests within the same seconds share one rendering."""
        view = view_of(request)
        visitor = await self._access.visitor(request, view)

        def make() -> str:
            return page_contents.page(name, view, request.path_qs, visitor, **given())

        return self._shelf.page(request, view, visitor, make).answer(request)

    async def _found(
        self, request: web.Request, name: str, find: Callable[[], Awaitable[Given]]
    ) -> web.Response:
        """Give a page whose values take time to find; it is shared as any is."""
        view = view_of(request)
        visitor = await self._access.visitor(request, view)
        if known := self._shelf.known(request, view, visitor):
            return known.answer(request)
        return await self._page(request, name, await find())

    async def _overview(self, request: web.Request) -> web.Response:
        return await self._found(request, "overview", partial(_overview, request))

    # --- lists ------------------------------------------------------------------------

    async def _list(
        self, request: web.Request, name: str, found: Callable[[], lists.Found]
    ) -> web.Response:
        def given() -> Mapping[str, Any]:
            rows, more = found()
            return {"part": part(rows, request.query.get("page", "")), **more}

        return await self._page(request, name, given)

    async def _waits(self, request: web.Request) -> web.Response:
        return await self._list(request, "waits", lambda: lists.waits(view_of(request)))

    async def _tasks(self, request: web.Request) -> web.Response:
        wanted = request.query.get("state", "")
        return await self._list(
            request, "tasks", lambda: lists.tasks(view_of(request).state, wanted)
        )

    async def _sessions(self, request: web.Request) -> web.Response:
        return await self._found(request, "sessions", partial(_sessions, request))

    async def _convoys(self, request: web.Request) -> web.Response:
        return await self._list(
            request, "convoys", lambda: lists.convoys(view_of(request).state)
        )

    async def _log(self, request: web.Request) -> web.Response:
        view, query = view_of(request), request.query
        lines = await asyncio.to_thread(view.source.log, MOST)
        wanted, words = query.get("convoy", ""), query.get("words", "")
        return await self._list(
            request, "log", lambda: lists.lines(view.state, lines, wanted, words)
        )

    async def _search(self, request: web.Request) -> web.Response:
        return await self._found(request, "search", partial(_searched, request))

    async def _analytics(self, request: web.Request) -> web.Response:
        view = view_of(request)
        shown = await analytics_page.given(view.source, view.now)
        return await self._page(request, "analytics", lambda: shown)

    async def _table(self, request: web.Request) -> web.Response:
        return await analytics_page.table(view_of(request).source)

    # --- one thing --------------------------------------------------------------------

    async def _convoy(self, request: web.Request) -> web.Response:
        view = view_of(request)
        convoy = convoy_of(view.state, request)
        sessions = await view.source.sessions(convoy)
        decisions = await view.source.decisions(convoy)
        return await self._page(
            request,
            "convoy",
            lambda: page_contents.of_convoy(
                view.state, convoy, view.now, sessions, view.source.checks(), decisions
            ),
        )

    async def _replay(self, request: web.Request) -> web.Response:
        """Give a convoy's page as it was after one of the steps of its log."""
        view = view_of(request)
        convoy = convoy_of(view.state, request)
        step = request.query.get("step", "")
        found = await replay.replayed(view.source, convoy.name, step)
        visitor = await self._access.visitor(request, view)
        shown = replay.given(found)
        text = page_contents.page("replay", view, request.path_qs, visitor, **shown)
        return CachedPage(text.encode(), secret=bool(visitor.csrf)).answer(request)

    async def _task(self, request: web.Request) -> web.Response:
        """Give a task's page, with its session's output so far."""
        view = view_of(request)
        convoy, task = task_of(view.state, request)
        tried = attempts(await view.source.sessions(convoy), task.number)
        wanted = request.query.get("attempt", "")
        chosen = next(
            (one.past for one in tried if str(one.past.attempt) == wanted), None
        )
        shown = page_contents.of_task(
            view,
            convoy,
            task,
            await view.source.output_of(session_of(convoy.name, chosen))
            if chosen
            else await view.source.printed(convoy, task),
        )
        work = task.work
        changes = (
            await asyncio.to_thread(view.source.changes, work.commit, work.base)
            if work
            else None
        )
        more = {"attempts": tried, "chosen": chosen, "changes": changes}
        visitor = await self._access.visitor(request, view)
        text = page_contents.page(
            "task", view, request.path_qs, visitor, **shown, **more
        )
        return CachedPage(text.encode(), secret=bool(visitor.csrf)).answer(request)

    async def _output(self, request: web.Request) -> web.Response:
        """Give a session's output; status 286 tells htmx to stop polling.

        https://htmx.org/docs/#polling
        """
        convoy, task = task_of(view_of(request).state, request)
        text = page_contents.escaped(
            await view_of(request).source.printed(convoy, task)
        )
        status = 200 if task.attempt else 286
        return web.Response(text=text, content_type="text/html", status=status)


async def _overview(request: web.Request) -> Given:
    view = view_of(request)
    live = page_contents.newest_live(view.state)
    clocks = [(convoy, await view.source.sessions(convoy)) for convoy in live]
    running = islice(view.state.running(), page_contents.HEAD)
    agents = await at_work(view.source, running)
    return partial(page_contents.overview, view, clocks, agents)


async def _searched(request: web.Request) -> Given:
    view, words = view_of(request), request.query.get("words", "")
    lines = await asyncio.to_thread(view.source.log, MOST)
    said = await printed(view.source, view.state, words)
    return lambda: {**lists.found(view, lines, words), "printed": said}


async def _sessions(request: web.Request) -> Given:
    view = view_of(request)
    shown = part([*view.state.running()], request.query.get("page", ""))
    agents = await at_work(view.source, shown.rows)
    return lambda: {"part": shown, "agents": agents}
