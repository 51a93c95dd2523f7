"""The dashboard's routes, and what holds for all of them."""

import asyncio
import errno
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web

from bot.dashboard import access, api, assets, deeds, pages
from bot.dashboard.house import House
from bot.dashboard.lines import MOST
from bot.dashboard.lookup import convoy_of, task_of
from bot.dashboard.news import News
from bot.dashboard.porch import Porch, Sight, Visitor, bring, sight_of
from bot.dashboard.stream import stream
from convoy.commands import Command
from grite.errors import BratError

PORT: Final = 5173
LOG_LINES: Final = 200
"""Lines that the log's page shows, of the last that are kept."""
FRESH_MS: Final = 2000
"""How long a first page is given again while the log stands still."""
MADE_MOST: Final = 64
FORM_BYTES: Final = 64 * 1024

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Dashboard:
    """Answers every request of one dashboard; for one event loop."""

    def __init__(self, porch: Porch, base: str = "") -> None:
        """Take who decides who comes in, and what each path begins with."""
        self._porch = porch
        self._base = base
        self._made: dict[tuple[str, str, Visitor, int], str] = {}

    def application(self) -> web.Application:
        """Return the web application."""
        app = web.Application(middlewares=[self._guarded], client_max_size=FORM_BYTES)
        base, task, root = self._base, self._base + api.TASK, self._base + api.ROOT
        app.add_routes(
            [
                web.get(f"{base}/", self._overview),
                web.get(f"{base}/log", self._log),
                web.get(f"{base}/convoys/{{convoy}}", self._convoy),
                web.get(task, self._task),
                web.get(task + "/output", self._output),
                web.post(f"{base}/convoys/{{convoy}}/{{verb}}", self._press_convoy),
                web.post(task + "/{verb}", self._press_task),
                web.get(f"{base}/events", self._events),
                web.get("/healthz", _healthy),
                *api.Api().routes(base),
                web.post(root + "/convoys/{convoy}/{verb}", self._press_convoy),
                web.post(root + api.TASK + "/{verb}", self._press_task),
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
            answer = _refused(request, fault)
        except web.HTTPException as error:
            error.headers.update(access.HEADERS)
            if api.ROOT not in request.path:
                raise
            answer = _for_programs(error)
        if not answer.prepared:
            for name, value in access.HEADERS.items():
                answer.headers.setdefault(name, value)
        return answer

    async def _page(
        self, request: web.Request, name: str, given: Mapping[str, Any]
    ) -> web.Response:
        sight = sight_of(request)
        visitor = await self._porch.visitor(request, sight)
        text = _rendered(name, sight, request, visitor, given)
        return web.Response(text=text, content_type="text/html")

    # --- pages ------------------------------------------------------------------------

    async def _overview(self, request: web.Request) -> web.Response:
        """Give the first page, made once for all who ask in the same seconds."""
        sight = sight_of(request)
        visitor = await self._porch.visitor(request, sight)
        now = sight.now
        key = (request.path_qs, sight.news.mark, visitor, now // FRESH_MS)
        text = self._made.get(key)
        if text is None:
            faults = sight.news.reading.faults
            given = pages.overview(sight.state, faults, now)
            text = _rendered("overview", sight, request, visitor, given)
            if len(self._made) >= MADE_MOST:
                self._made.clear()
            self._made[key] = text
        return web.Response(text=text, content_type="text/html")

    async def _convoy(self, request: web.Request) -> web.Response:
        convoy = convoy_of(sight_of(request).state, request)
        state = sight_of(request).state
        shown = pages.of_convoy(state, convoy, sight_of(request).now)
        return await self._page(request, "convoy", shown)

    async def _task(self, request: web.Request) -> web.Response:
        convoy, task = task_of(sight_of(request).state, request)
        state = sight_of(request).state
        output = await sight_of(request).house.printed(convoy, task)
        shown = pages.of_task(state, convoy, task, sight_of(request).now, output)
        return await self._page(request, "task", shown)

    async def _output(self, request: web.Request) -> web.Response:
        """Give what a session printed; 286 tells htmx that it asks for the last time.

        https://htmx.org/docs/#polling
        """
        convoy, task = task_of(sight_of(request).state, request)
        text = pages.escaped(await sight_of(request).house.printed(convoy, task))
        status = 200 if task.attempt else 286
        return web.Response(text=text, content_type="text/html", status=status)

    async def _log(self, request: web.Request) -> web.Response:
        wanted = request.query.get("convoy", "")
        words = request.query.get("words", "")
        lines = await asyncio.to_thread(sight_of(request).house.log, MOST)
        shown = [
            line
            for line in reversed(lines)
            if wanted in ("", line.convoy) and words.lower() in line.text.lower()
        ][:LOG_LINES]
        convoys = [*sight_of(request).state.convoys]
        given = {"lines": shown, "convoys": convoys, "wanted": wanted, "words": words}
        return await self._page(request, "log", given)

    # --- buttons ----------------------------------------------------------------------

    async def _press_convoy(self, request: web.Request) -> web.Response:
        convoy = convoy_of(sight_of(request).state, request)
        return await self._press(
            request, lambda verb, by: deeds.of_convoy(verb, convoy.name, by)
        )

    async def _press_task(self, request: web.Request) -> web.Response:
        convoy, task = task_of(sight_of(request).state, request)
        return await self._press(
            request, lambda verb, by: deeds.of_task(verb, convoy.name, task.number, by)
        )

    async def _press(
        self, request: web.Request, deed: Callable[[str, str], Command]
    ) -> web.Response:
        sight = sight_of(request)
        if sight.house.ask is None:
            raise web.HTTPForbidden(text="This dashboard only shows.\n")
        by = await self._porch.writer(request, sight)
        try:
            command = deed(request.match_info["verb"], by)
        except ValueError as error:
            raise web.HTTPNotFound(text=f"{error}.\n") from error
        refused = await sight.house.ask(command)
        await sight.news.look()
        if refused is not None:
            raise web.HTTPConflict(text=f"That cannot be done: {refused.why}.\n")
        if api.ROOT in request.path:
            return web.json_response({"done": True})
        return web.Response(
            status=303, headers={"Location": request.path.rpartition("/")[0]}
        )

    async def _events(self, request: web.Request) -> web.StreamResponse:
        return await stream(request, sight_of(request).news)


def _rendered(
    name: str,
    sight: Sight,
    request: web.Request,
    visitor: Visitor,
    given: Mapping[str, Any],
) -> str:
    return pages.page(
        name,
        sight.house,
        request.path_qs,
        visitor,
        trouble=sight.news.trouble,
        mark=sight.news.mark,
        **given,
    )


def _refused(request: web.Request, error: web.HTTPException) -> web.StreamResponse:
    if api.ROOT in request.path:
        return _for_programs(error)
    return web.Response(text=error.text, status=error.status)


def _for_programs(error: web.HTTPException) -> web.Response:
    """Return an error as JSON; what it says is for people all the same."""
    told = {"error": (error.text or error.reason).strip()}
    answer = web.json_response(told, status=error.status)
    if "Allow" in error.headers:
        answer.headers["Allow"] = error.headers["Allow"]
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
    news = News(house.read)
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
