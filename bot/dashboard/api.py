"""The JSON interface below `/api/v1`: the same state, for programs.

`openapi.json` describes it; a test holds that every answer is as it says there.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from bot.dashboard.house import House
from bot.dashboard.lookup import convoy_of, task_of
from bot.dashboard.news import News
from bot.dashboard.stream import stream
from bot.version import VERSION
from convoy.state import State
from convoy.told import document
from convoy.told.document import SCHEMA_VERSION

ROOT: Final = "/api/v1"
DESCRIPTION: Final = Path(__file__).with_name("openapi.json")
TASK: Final = r"/convoys/{convoy}/tasks/{task:\d{1,9}}"


class Api:
    """Answers programs that only read."""

    def __init__(self, house: House, news: News) -> None:
        """Take what it tells of, and the news of it."""
        self._house = house
        self._news = news

    def routes(self) -> list[web.RouteDef]:
        """Return all that can be read."""
        return [
            web.get(f"{ROOT}/openapi.json", self._description),
            web.get(f"{ROOT}/health", self._health),
            web.get(f"{ROOT}/repositories", self._repositories),
            web.get(f"{ROOT}/status", self._status),
            web.get(f"{ROOT}/convoys", self._list("convoys", document.convoys)),
            web.get(f"{ROOT}/sessions", self._list("sessions", document.sessions)),
            web.get(f"{ROOT}/queue", self._list("queue", document.queue)),
            web.get(f"{ROOT}/convoys/{{convoy}}", self._convoy),
            web.get(f"{ROOT}/convoys/{{convoy}}/tasks", self._tasks),
            web.get(ROOT + TASK, self._task),
            web.get(ROOT + TASK + "/log", self._printed),
            web.get(f"{ROOT}/events", self._events),
        ]

    @property
    def _state(self) -> State:
        return self._news.reading.state

    async def _description(self, _: web.Request) -> web.FileResponse:
        return web.FileResponse(DESCRIPTION)

    async def _health(self, _: web.Request) -> web.Response:
        trouble = self._news.trouble
        told = {
            "schema_version": SCHEMA_VERSION,
            "version": VERSION,
            "wal_head": self._news.reading.head,
            "trouble": trouble,
        }
        return web.json_response(told, status=503 if trouble else 200)

    async def _repositories(self, _: web.Request) -> web.Response:
        own = {"name": self._house.repository, "web": self._house.web}
        return _answer("repositories", [own])

    async def _status(self, _: web.Request) -> web.Response:
        faults = self._news.reading.faults
        told = document.state_document(self._state, self._house.clock(), faults)
        return web.json_response(told)

    def _list(
        self, name: str, told: Callable[[State], list[dict[str, Any]]]
    ) -> Callable[[web.Request], Any]:
        async def answer(_: web.Request) -> web.Response:
            return _answer(name, told(self._state))

        return answer

    async def _convoy(self, request: web.Request) -> web.Response:
        convoy = convoy_of(self._state, request)
        return web.json_response(document.convoy_document(convoy))

    async def _tasks(self, request: web.Request) -> web.Response:
        convoy = convoy_of(self._state, request)
        tasks = [document.task_document(convoy, task) for task in convoy.tasks]
        return _answer("tasks", tasks)

    async def _task(self, request: web.Request) -> web.Response:
        convoy, task = task_of(self._state, request)
        told = document.task_document(convoy, task)
        now = self._house.clock()
        why = document.why_document(self._state, convoy, task, now)
        return web.json_response(told | why)

    async def _printed(self, request: web.Request) -> web.Response:
        """Give the end of what the task's newest session printed; empty: nothing."""
        text = await self._house.printed(*task_of(self._state, request))
        return web.Response(text=text)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        return await stream(request, self._news)


def _answer(name: str, rows: list[dict[str, Any]]) -> web.Response:
    return web.json_response({"schema_version": SCHEMA_VERSION, name: rows})
