"""The dashboard's routes, and what holds for all of them."""

import asyncio
import contextlib
import errno
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from bot.dashboard import access, api, deeds, pages
from bot.dashboard.house import House
from bot.dashboard.news import News
from convoy.commands import Command
from convoy.state import Convoy, Task
from convoy.told import document
from grite.errors import BratError

PORT: Final = 5173
STATIC: Final = Path(__file__).with_name("static")
LOG_LINES: Final = 500
PING_S: Final = 15.0
"""How often a silent stream says that it lives, so that nothing between closes it."""
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
        task = r"/convoys/{convoy}/tasks/{task:\d{1,9}}"
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
                web.get("/api/v1/status", self._api_status),
                web.get("/api/v1/convoys/{convoy}", self._api_convoy),
                web.get("/api/v1" + task, self._api_task),
                web.post("/api/v1/convoys/{convoy}/{verb}", self._press_convoy),
                web.post("/api/v1" + task + "/{verb}", self._press_task),
                web.static("/static", STATIC),
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
            raise
        if not answer.prepared:
            answer.headers.update(access.HEADERS)
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
        convoy = api.convoy_of(self._news, request)
        state = self._news.reading.state
        shown = pages.of_convoy(state, convoy, self._house.clock())
        return self._page(request, "convoy", shown)

    async def _task(self, request: web.Request) -> web.Response:
        convoy = api.convoy_of(self._news, request)
        task = api.task_of(convoy, request)
        state = self._news.reading.state
        output = await self._printed(convoy, task)
        shown = pages.of_task(state, convoy, task, self._house.clock(), output)
        return self._page(request, "task", shown)

    async def _output(self, request: web.Request) -> web.Response:
        """Give what a session printed; 286 tells htmx that it asks for the last time.

        https://htmx.org/docs/#polling
        """
        convoy = api.convoy_of(self._news, request)
        task = api.task_of(convoy, request)
        text = pages.escaped(await self._printed(convoy, task))
        status = 200 if task.attempt else 286
        return web.Response(text=text, content_type="text/html", status=status)

    async def _printed(self, convoy: Convoy, task: Task) -> str:
        output = self._house.output
        if task.newest_run is None or output is None:
            return ""
        return await asyncio.to_thread(output, convoy, task)

    async def _log(self, request: web.Request) -> web.Response:
        wanted = request.query.get("convoy", "")
        words = request.query.get("words", "")
        lines = await asyncio.to_thread(self._house.log, LOG_LINES)
        shown = [
            line
            for line in reversed(lines)
            if wanted in ("", line.convoy) and words.lower() in line.text.lower()
        ]
        convoys = [*self._news.reading.state.convoys]
        given = {"lines": shown, "convoys": convoys, "wanted": wanted, "words": words}
        return self._page(request, "log", given)

    # --- buttons ----------------------------------------------------------------------

    async def _press_convoy(self, request: web.Request) -> web.Response:
        convoy = api.convoy_of(self._news, request)
        return await self._press(
            request, lambda verb: deeds.of_convoy(verb, convoy.name)
        )

    async def _press_task(self, request: web.Request) -> web.Response:
        convoy = api.convoy_of(self._news, request)
        task = api.task_of(convoy, request)
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

    # --- for programs -----------------------------------------------------------------

    async def _api_status(self, _request: web.Request) -> web.Response:
        return web.json_response(api.status(self._house, self._news))

    async def _api_convoy(self, request: web.Request) -> web.Response:
        convoy = api.convoy_of(self._news, request)
        return web.json_response(document.convoy_document(convoy))

    async def _api_task(self, request: web.Request) -> web.Response:
        convoy = api.convoy_of(self._news, request)
        task = api.task_of(convoy, request)
        state, now = self._news.reading.state, self._house.clock()
        told = document.why_document(state, convoy, task, now)
        return web.json_response(document.task_document(convoy, task) | told)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Stream one `changed` for every change (server-sent events).

        What changed between a page and its stream, or while the stream was cut, counts.
        https://html.spec.whatwg.org/multipage/server-sent-events.html
        """
        answer = web.StreamResponse(
            headers=access.HEADERS | {"Content-Type": "text/event-stream"}
        )
        await answer.prepare(request)
        since = request.query.get("since", self._news.mark)
        known = request.headers.get("Last-Event-ID", since)
        with contextlib.suppress(ConnectionError):
            while True:
                try:
                    async with asyncio.timeout(PING_S):
                        known = await self._news.after(known)
                except TimeoutError:
                    await answer.write(b": still here\n\n")
                else:
                    said = f"event: changed\nid: {known}\ndata: {known}\n\n"
                    await answer.write(said.encode())
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
