"""The JSON interface below `/api/v1`, the buttons of people and programs, and `/mcp`.

`openapi.json` describes the interface; a test checks every response against that
description. MCP is for whoever may press the buttons; its SDK is loaded with the first
request: it takes a second, and few dashboards need it.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from msgspec import Struct

from bot import VERSION
from bot.dashboard.access_policy import (
    AccessPolicy,
    RepositoryView,
    convoy_at,
    task_at,
    view_of,
)
from bot.dashboard.dashboard_source import CarryOut
from bot.dashboard.mcp_tools import (
    MISSING,
    Decision,
    Snapshot,
    ToolRefused,
    convoy_in,
    task_in,
)
from bot.requests import verb_table
from bot.requests.verb import Asker, NotPossible
from bot.requests.verb_table import NoSuchWord
from bot.text.replies import Reply, refused
from convoy import views
from convoy.model.state import Convoy, State, Task
from convoy.views import SCHEMA_VERSION
from convoy.views.history import LogLine

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
        convoy = convoy_at(view.state, request)
        return web.json_response(views.planned_document(convoy, view.leases))

    async def _tasks(self, request: web.Request) -> web.Response:
        view = view_of(request)
        convoy = convoy_at(view.state, request)
        tasks = [
            views.task_document(convoy, task, view.leases) for task in convoy.tasks
        ]
        return _answer("tasks", tasks)

    async def _task(self, request: web.Request) -> web.Response:
        view = view_of(request)
        convoy, task = task_at(view.state, request)
        told = views.task_document(convoy, task, view.leases)
        why = views.why_document(view.state, convoy, task, view.now)
        return web.json_response(told | why)

    async def _printed(self, request: web.Request) -> web.Response:
        """Give the end of the newest session's output; empty: there is none."""
        text = await view_of(request).source.printed(
            *task_at(view_of(request).state, request)
        )
        return web.Response(text=text)


def _answer(name: str, rows: list[dict[str, Any]]) -> web.Response:
    return web.json_response({"schema_version": SCHEMA_VERSION, name: rows})


class Pressed(Struct, frozen=True, kw_only=True):
    """What somebody decides of a convoy or a task."""

    word: str
    """The endpoint's word in the table of verbs."""
    convoy: str
    task: int = 0
    """0: it is about the convoy."""
    text: str = ""


async def presser(
    access: AccessPolicy, request: web.Request, view: RepositoryView
) -> tuple[str, CarryOut]:
    """Return who presses, and what carries out what they decide."""
    if view.source.carry_out is None:
        raise web.HTTPForbidden(text="This dashboard only shows.\n")
    return await access.writer(request, view), view.source.carry_out


async def press(
    view: RepositoryView, pressing: tuple[str, CarryOut], pressed: Pressed
) -> Reply:
    """Carry out a decision, look at what it changed, and return the reply.

    `pressing` is what `presser` returned for this very request. Raises `NoSuchWord`,
    and `NotPossible` where the text is missing.
    """
    by, carry_out = pressing
    asked = await asyncio.to_thread(
        verb_table.request_by_word, pressed.word, pressed.task, pressed.text
    )
    asker = Asker(by=by, convoy=pressed.convoy, allowed=True, at_endpoint=True)
    reply = await carry_out(asker, asked)
    await view.watcher.look()
    return reply


class Buttons:
    """Answers requests that change something."""

    def __init__(self, access: AccessPolicy) -> None:
        """Let `access` decide who may press buttons."""
        self._access = access

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return the routes of the buttons, below a path, for people and programs."""
        root = base + ROOT
        return [
            web.post(f"{base}/convoys/{{convoy}}/{{verb}}", self._convoy),
            web.post(base + TASK + "/{verb}", self._task),
            web.post(root + "/convoys/{convoy}/{verb}", self._convoy),
            web.post(root + TASK + "/{verb}", self._task),
        ]

    async def _convoy(self, request: web.Request) -> web.Response:
        convoy = convoy_at(view_of(request).state, request)
        return await self._press(request, convoy, 0)

    async def _task(self, request: web.Request) -> web.Response:
        convoy, task = task_at(view_of(request).state, request)
        return await self._press(request, convoy, task.number)

    async def _press(
        self, request: web.Request, convoy: Convoy, task: int
    ) -> web.Response:
        view = view_of(request)
        pressing = await presser(self._access, request, view)
        pressed = Pressed(
            word=request.match_info["verb"],
            convoy=convoy.name,
            task=task,
            text=await _text_said(request),
        )
        try:
            reply = await press(view, pressing, pressed)
        except NoSuchWord as error:
            raise web.HTTPNotFound(text=f"{error}.\n") from error
        except NotPossible as error:
            raise web.HTTPConflict(text=f"{refused(str(error)).text}\n") from error
        if reply.why:
            raise web.HTTPConflict(text=f"{reply.text}\n")
        if ROOT in request.path:
            return web.json_response({"done": True})
        return web.Response(
            status=303, headers={"Location": request.path.rpartition("/")[0]}
        )


async def _text_said(request: web.Request) -> str:
    """Return the text of a request: a field of the form, or of JSON."""
    if request.content_type != "application/json":
        told: object = (await request.post()).get("text", "")
    else:
        try:
            body = json.loads(await request.read() or b"{}")
        except ValueError:  # neither JSON nor UTF-8
            body = None
        told = body.get("text", "") if isinstance(body, dict) else None
    if not isinstance(told, str):
        raise web.HTTPBadRequest(text='Say it as {"text": "..."}.\n')
    return told


_NO_START: Final = (
    "convoys begin on the forge here: open an issue there and label it, or say "
    "`/brat start` on it"
)


class McpEndpoint:
    """Answers MCP clients."""

    def __init__(self, access: AccessPolicy) -> None:
        """Let `access` decide who may decide."""
        self._access = access

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return the route, below a path."""
        return [web.post(f"{base}/mcp", self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        view = view_of(request)
        pressing = await presser(self._access, request, view)
        if find_spec("mcp") is None:
            raise web.HTTPNotImplemented(text=f"{MISSING}\n")
        await asyncio.to_thread(import_module, "bot.dashboard.mcp_server")
        from bot.dashboard.mcp_server import exchange, server_of

        server = server_of(DashboardBackend(view, pressing))
        body = await request.read()
        made = await exchange(server, request.path, request.raw_headers, body)
        headers = [(name.decode(), value.decode()) for name, value in made.headers]
        return web.Response(status=made.status, headers=headers, body=made.answer)


class DashboardBackend:
    """What one request may read and decide; for one request."""

    def __init__(self, view: RepositoryView, pressing: tuple[str, CarryOut]) -> None:
        """Read from `view`, and decide as whoever sent the request."""
        self._view = view
        self._pressing = pressing

    async def snapshot(self) -> Snapshot:
        """Return what the dashboard shows."""
        await self._view.watcher.look()
        return Snapshot(
            state=self._view.state,
            now=self._view.now,
            faults=self._view.watcher.reading.faults,
            here=self._view.watcher.here,
        )

    async def log(self, number: int) -> Sequence[LogLine]:
        """Return the log's last lines."""
        return await asyncio.to_thread(self._view.source.log, number)

    async def output(self, convoy: Convoy, task: Task) -> str:
        """Return the end of a session's output, as the task's page shows it."""
        return await self._view.source.printed(convoy, task)

    async def decide(self, decision: Decision) -> str:
        """Carry out a decision as its button does."""
        convoy, task = decision.convoy, decision.task
        if task:
            task_in(self._view.state, convoy, task)
        convoy_in(self._view.state, convoy)
        pressed = Pressed(
            word=decision.word, convoy=convoy, task=task, text=decision.text
        )
        reply = await press(self._view, self._pressing, pressed)
        if reply.why:
            raise ToolRefused(reply.text)
        return reply.text

    async def start(self, text: str, *, plan_only: bool) -> dict[str, Any]:
        """Open an issue; the running loop plans its convoy."""
        start = self._view.source.start
        if start is None:
            raise ToolRefused(_NO_START)
        issue = await start(text, plan_only)
        return {"issue": issue, "said": f"issue {issue} is being planned; see status"}
