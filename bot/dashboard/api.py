"""The JSON interface below `/api/v1`, the buttons of people and programs, and `/mcp`.

`openapi.json` describes the interface; a test checks every response against that
description. MCP is for whoever may press the buttons; its SDK is loaded with the first
request: it takes a second, and few dashboards need it.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from aiohttp import web

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
    task_told,
)
from bot.requests import verb_table
from bot.requests.verb import Asker, NotPossible
from bot.requests.verb_table import NoSuchWord
from bot.text.replies import Reply, refused
from convoy import views
from convoy.model.state import Convoy, Task
from convoy.views import SCHEMA_VERSION
from convoy.views.history import LogLine

ROOT: Final = "/api/v1"
DESCRIPTION: Final = Path(__file__).with_name("openapi.json")
TASK: Final = r"/convoys/{convoy}/tasks/{task:\d{1,9}}"


Document = dict[str, Any]


def _rows(name: str, rows: Sequence[Any]) -> Document:
    return {"schema_version": SCHEMA_VERSION, name: rows}


def _status(view: RepositoryView, _: web.Request) -> Document:
    reading, here = view.watcher.reading, view.watcher.here
    return views.state_document(view.state, view.now, reading.faults, here)


def _convoy(view: RepositoryView, request: web.Request) -> Document:
    return views.planned_document(convoy_at(view.state, request), view.leases)


def _tasks(view: RepositoryView, request: web.Request) -> Document:
    convoy = convoy_at(view.state, request)
    told = (views.task_document(convoy, task, view.leases) for task in convoy.tasks)
    return _rows("tasks", [*told])


def _task(view: RepositoryView, request: web.Request) -> Document:
    return task_told(view.state, *task_at(view.state, request), view.now)


DOCUMENTS: Final[dict[str, Callable[[RepositoryView, web.Request], Document]]] = {
    "/repositories": lambda view, _: _rows(
        "repositories", [{"name": view.source.repository, "web": view.source.web}]
    ),
    "/status": _status,
    "/convoys": lambda view, _: _rows("convoys", views.convoys(view.state, view.now)),
    "/sessions": lambda view, _: _rows("sessions", views.sessions(view.state)),
    "/queue": lambda view, _: _rows("queue", views.queue(view.state)),
    "/convoys/{convoy}": _convoy,
    "/convoys/{convoy}/tasks": _tasks,
    TASK: _task,
}
"""What can be read as JSON, by its path below `ROOT`."""


async def _told(
    document: Callable[[RepositoryView, web.Request], Document], request: web.Request
) -> web.Response:
    return web.json_response(document(view_of(request), request))


async def _description(_: web.Request) -> web.FileResponse:
    return web.FileResponse(DESCRIPTION)


async def _health(request: web.Request) -> web.Response:
    watcher = view_of(request).watcher
    told = {
        "schema_version": SCHEMA_VERSION,
        "version": VERSION,
        "wal_head": watcher.reading.head,
        "trouble": watcher.trouble,
    }
    return web.json_response(told, status=503 if watcher.trouble else 200)


async def _printed(request: web.Request) -> web.Response:
    """Give the end of the newest session's output; empty: there is none."""
    view = view_of(request)
    return web.Response(text=await view.source.printed(*task_at(view.state, request)))


async def presser(
    access: AccessPolicy, request: web.Request, view: RepositoryView
) -> tuple[str, CarryOut]:
    """Return who presses, and what carries out what they decide."""
    if view.source.carry_out is None:
        raise web.HTTPForbidden(text="This dashboard only shows.\n")
    return await access.writer(request, view), view.source.carry_out


async def press(
    view: RepositoryView, pressing: tuple[str, CarryOut], decision: Decision
) -> Reply:
    """Carry out a decision, look at what it changed, and return the reply.

    `pressing` is what `presser` returned for this very request. Raises `NoSuchWord`,
    and `NotPossible` where the text is missing.
    """
    by, carry_out = pressing
    asked = await asyncio.to_thread(
        verb_table.request_by_word, decision.word, decision.task, decision.text
    )
    asker = Asker(by=by, convoy=decision.convoy, allowed=True, at_endpoint=True)
    reply = await carry_out(asker, asked)
    await view.watcher.look()
    return reply


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


class Api:
    """Answers who reads by programs, and who decides: people, programs, and MCP."""

    def __init__(self, access: AccessPolicy) -> None:
        self._access = access

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return the routes, below a path; buttons have two, of people and programs."""
        root = base + ROOT
        return [
            web.get(f"{root}/openapi.json", _description),
            web.get(f"{root}/health", _health),
            *(web.get(root + at, partial(_told, one)) for at, one in DOCUMENTS.items()),
            web.get(root + TASK + "/log", _printed),
            *(
                web.post(f"{above}{thing}/{{verb}}", self._press)
                for above in (base, root)
                for thing in ("/convoys/{convoy}", TASK)
            ),
            web.post(f"{base}/mcp", self._mcp),
        ]

    async def _press(self, request: web.Request) -> web.Response:
        view, task = view_of(request), 0
        convoy = convoy_at(view.state, request)
        if "task" in request.match_info:
            task = task_at(view.state, request)[1].number
        pressing = await presser(self._access, request, view)
        decision = Decision(
            word=request.match_info["verb"],
            convoy=convoy.name,
            task=task,
            text=await _text_said(request),
        )
        try:
            reply = await press(view, pressing, decision)
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

    async def _mcp(self, request: web.Request) -> web.Response:
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
        self._view = view
        self._pressing = pressing

    async def snapshot(self) -> Snapshot:
        await self._view.watcher.look()
        return Snapshot(
            state=self._view.state,
            now=self._view.now,
            faults=self._view.watcher.reading.faults,
            here=self._view.watcher.here,
        )

    async def log(self, number: int) -> Sequence[LogLine]:
        return await asyncio.to_thread(self._view.source.log, number)

    async def output(self, convoy: Convoy, task: Task) -> str:
        return await self._view.source.printed(convoy, task)

    async def decide(self, decision: Decision) -> str:
        convoy_in(self._view.state, decision.convoy)
        if decision.task:
            task_in(self._view.state, decision.convoy, decision.task)
        reply = await press(self._view, self._pressing, decision)
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
