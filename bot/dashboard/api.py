"""The JSON interface below `/api/v1`: the same state, for programs.

`openapi.json` describes it; a test checks every response against that description.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from bot import VERSION
from bot.dashboard.access_policy import view_of
from bot.dashboard.path_lookup import convoy_of, task_of
from convoy import views
from convoy.model.state import State
from convoy.views import SCHEMA_VERSION

ROOT: Final = "/api/v1"
DESCRIPTION: Final = Path(__file__).with_name("openapi.json")
TASK: Final = r"/convoys/{convoy}/tasks/{task:\d{1,9}}"


class Api:
    """Answers programs that only read."""

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return the routes for reading, below a path."""
        root = base + ROOT
        return [
            web.get(f"{root}/openapi.json", self._description),
            web.get(f"{root}/health", self._health),
            web.get(f"{root}/repositories", self._repositories),
            web.get(f"{root}/status", self._status),
            web.get(f"{root}/convoys", self._convoys),
            web.get(f"{root}/sessions", self._list("sessions", views.sessions)),
            web.get(f"{root}/queue", self._list("queue", views.queue)),
            web.get(f"{root}/convoys/{{convoy}}", self._convoy),
            web.get(f"{root}/convoys/{{convoy}}/tasks", self._tasks),
            web.get(root + TASK, self._task),
            web.get(root + TASK + "/log", self._printed),
        ]

    async def _description(self, _: web.Request) -> web.FileResponse:
        return web.FileResponse(DESCRIPTION)

    async def _health(self, request: web.Request) -> web.Response:
        trouble = view_of(request).watcher.trouble
        told = {
            "schema_version": SCHEMA_VERSION,
            "version": VERSION,
            "wal_head": view_of(request).watcher.reading.head,
            "trouble": trouble,
        }
        return web.json_response(told, status=503 if trouble else 200)

    async def _repositories(self, request: web.Request) -> web.Response:
        own = {
            "name": view_of(request).source.repository,
            "web": view_of(request).source.web,
        }
        return _answer("repositories", [own])

    async def _status(self, request: web.Request) -> web.Response:
        view = view_of(request)
        told = views.state_document(
            view.state, view.now, view.watcher.reading.faults, view.watcher.here
        )
        return web.json_response(told)

    def _list(
        self, name: str, told: Callable[[State], list[dict[str, Any]]]
    ) -> Callable[[web.Request], Any]:
        async def answer(request: web.Request) -> web.Response:
            return _answer(name, told(view_of(request).state))

        return answer

    async def _convoys(self, request: web.Request) -> web.Response:
        view = view_of(request)
        return _answer("convoys", views.convoys(view.state, view.now))

    async def _convoy(self, request: web.Request) -> web.Response:
        view = view_of(request)
        convoy = convoy_of(view.state, request)
        return web.json_response(views.planned_document(convoy, view.leases))

    async def _tasks(self, request: web.Request) -> web.Response:
        view = view_of(request)
        convoy = convoy_of(view.state, request)
        tasks = [
            views.task_document(convoy, task, view.leases) for task in convoy.tasks
        ]
        return _answer("tasks", tasks)

    async def _task(self, request: web.Request) -> web.Response:
        view = view_of(request)
        convoy, task = task_of(view.state, request)
        told = views.task_document(convoy, task, view.leases)
        why = views.why_document(view.state, convoy, task, view.now)
        return web.json_response(told | why)

    async def _printed(self, request: web.Request) -> web.Response:
        """Give the end of the newest session's output; empty: there is none."""
        text = await view_of(request).source.printed(
            *task_of(view_of(request).state, request)
        )
        return web.Response(text=text)


def _answer(name: str, rows: list[dict[str, Any]]) -> web.Response:
    return web.json_response({"schema_version": SCHEMA_VERSION, name: rows})
