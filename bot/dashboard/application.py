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
from bot.dashboard.stream import stream
from convoy.commands import Command
from grite.errors import BratError

PORT: Final = 5173
LOG_LINES: Final = 200
"""Lines that the log's page shows, of the last that are kept."""
FORM_BYTES: Final = 64 * 1024

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Dashboard:
    """Answers every request of one dashboard; for one event loop."""

    def __init__(self, house: House, news: News) -> None:
        """Take what it shows and the news of it."""
        self._house = house
        self._news = news

    def application(self) -> web.Application:
        """Return the web application."""
        app = web.Application(middlewares=[self._guarded], client_max_size=FORM_BYTES)
        task, root = api.TASK, api.ROOT
        app.add_routes(
            [
                web.get("/", self._overview),
                web.get("/log", self._log),
                web.get("/convoys/{convoy}", self._convoy),
                web.get(task, self._task),
                web.get(task + "/output", self._output),
                web.post("/convoys/{convoy}/{verb}", self._press_convoy),
                web.post(task + "/{verb}", self._press_task),
                web.get("/events", self._events),
                web.get("/healthz", _healthy),
                *api.Api(self._house, self._news).routes(),
                web.post(root + "/convoys/{convoy}/{verb}", self._press_convoy),
                web.post(root + task + "/{verb}", self._press_task),
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
            if not access.is_ours(request):
                raise web.HTTPMisdirectedRequest(text="This is not our name.\n")
            welcome = access.welcome(request, self._house.token)
            answer = welcome or await handler(request)
        except web.HTTPException as error:
            error.headers.update(access.HEADERS)
            if not request.path.startswith(api.ROOT):
                raise
            answer = _for_programs(error)
        if not answer.prepared:
            for name, value in access.HEADERS.items():
                answer.headers.setdefault(name, value)
        return answer

    def _may_write(self, request: web.Request) -> bool:
        return access.is_known(request, self._house.token)

    def _page(
        self, request: web.Request, name: str, given: Mapping[str, Any]
    ) -> web.Response:
        text = pages.page(
            name,
            self._house,
            request.path_qs,
            self._may_write(request),
            trouble=self._news.trouble,
            mark=self._news.mark,
            **given,
        )
        return web.Response(text=text, content_type="text/html")

    # --- pages ------------------------------------------------------------------------

    async def _overview(self, request: web.Request) -> web.Response:
        reading = self._news.reading
        shown = pages.overview(reading.state, reading.faults, self._house.clock())
        return self._page(request, "overview", shown)

    async def _convoy(self, request: web.Request) -> web.Response:
        convoy = convoy_of(self._news.reading.state, request)
        state = self._news.reading.state
        shown = pages.of_convoy(state, convoy, self._house.clock())
        return self._page(request, "convoy", shown)

    async def _task(self, request: web.Request) -> web.Response:
        convoy, task = task_of(self._news.reading.state, request)
        state = self._news.reading.state
        output = await self._house.printed(convoy, task)
        shown = pages.of_task(state, convoy, task, self._house.clock(), output)
        return self._page(request, "task", shown)

    async def _output(self, request: web.Request) -> web.Response:
        """Give what a session printed; 286 tells htmx that it asks for the last time.

        https://htmx.org/docs/#polling
        """
        convoy, task = task_of(self._news.reading.state, request)
        text = pages.escaped(await self._house.printed(convoy, task))
        status = 200 if task.attempt else 286
        return web.Response(text=text, content_type="text/html", status=status)

    async def _log(self, request: web.Request) -> web.Response:
        wanted = request.query.get("convoy", "")
        words = request.query.get("words", "")
        lines = await asyncio.to_thread(self._house.log, MOST)
        shown = [
            line
            for line in reversed(lines)
            if wanted in ("", line.convoy) and words.lower() in line.text.lower()
        ][:LOG_LINES]
        convoys = [*self._news.reading.state.convoys]
        given = {"lines": shown, "convoys": convoys, "wanted": wanted, "words": words}
        return self._page(request, "log", given)

    # --- buttons ----------------------------------------------------------------------

    async def _press_convoy(self, request: web.Request) -> web.Response:
        convoy = convoy_of(self._news.reading.state, request)
        return await self._press(
            request, lambda verb: deeds.of_convoy(verb, convoy.name)
        )

    async def _press_task(self, request: web.Request) -> web.Response:
        convoy, task = task_of(self._news.reading.state, request)
        return await self._press(
            request, lambda verb: deeds.of_task(verb, convoy.name, task.number)
        )

    async def _press(
        self, request: web.Request, deed: Callable[[str], Command]
    ) -> web.Response:
        if self._house.ask is None:
            raise web.HTTPForbidden(text="This dashboard only shows.\n")
        if not access.is_from_here(request) or not self._may_write(request):
            raise web.HTTPForbidden(
                text="Open the address that brat printed: it has the token.\n"
            )
        try:
            command = deed(request.match_info["verb"])
        except ValueError as error:
            raise web.HTTPNotFound(text=f"{error}.\n") from error
        try:
            refused = await self._house.ask(command)
        except BratError as error:
            raise web.HTTPServiceUnavailable(text=f"{error}; try again.\n") from error
        await self._news.look()
        if refused is not None:
            raise web.HTTPConflict(text=f"That cannot be done: {refused.why}.\n")
        if request.path.startswith("/api/"):
            return web.json_response({"done": True})
        return web.Response(
            status=303, headers={"Location": request.path.rpartition("/")[0]}
        )

    async def _events(self, request: web.Request) -> web.StreamResponse:
        return await stream(request, self._news)


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
        Dashboard(house, news).application(), access_log=None, shutdown_timeout=1
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
