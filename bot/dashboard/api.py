"""The JSON interface below `/api/v1`, and the buttons of people and programs.

`openapi.json` describes the interface; a test checks every response against that
description.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from bot import VERSION
from bot.dashboard.access_policy import VIEW, AccessPolicy, convoy_at, task_at
from bot.dashboard.dashboard_source import RepositoryView
from bot.requests import verb_table
from bot.requests.verb import Asker, NotPossible, Verb
from bot.requests.verb_table import NoSuchWord
from bot.text.replies import refused
from convoy import views
from convoy.text import clean
from convoy.views import SCHEMA_VERSION

ROOT: Final = "/api/v1"
DESCRIPTION: Final = Path(__file__).with_name("openapi.json")
TASK: Final = r"/convoys/{convoy}/tasks/{task:\d{1,9}}"
DONE: Final = web.RequestKey[tuple[str, Verb]]("done", tuple)
"""What a button did, and by which verb."""

Document = dict[str, Any]


def _rows(name: str, rows: Sequence[Any]) -> Document:
    return {"schema_version": SCHEMA_VERSION, name: rows}


def _tasks(view: RepositoryView, request: web.Request) -> Document:
    convoy = convoy_at(request)
    told = (views.task_document(convoy, task, view.moment) for task in convoy.tasks)
    return _rows("tasks", [*told])


DOCUMENTS: Final[dict[str, Callable[[RepositoryView, web.Request], Document]]] = {
    "/repositories": lambda view, _: _rows(
        "repositories", [{"name": view.source.repository, "web": view.source.web}]
    ),
    "/status": lambda view, _: views.state_document(
        view.state, view.now, view.reading.faults, view.here
    ),
    "/convoys": lambda view, _: _rows("convoys", views.convoys(view.state, view.now)),
    "/sessions": lambda view, _: _rows("sessions", views.sessions(view.state)),
    "/queue": lambda view, _: _rows("queue", views.queue(view.state)),
    "/convoys/{convoy}": lambda view, request: views.planned_document(
        convoy_at(request), view.moment
    ),
    "/convoys/{convoy}/tasks": _tasks,
    TASK: lambda view, request: views.explained_task(
        view.state, *task_at(request), view.now
    ),
}
"""What can be read as JSON, by its path below `ROOT`."""


async def _told(
    document: Callable[[RepositoryView, web.Request], Document], request: web.Request
) -> web.Response:
    return web.json_response(document(request[VIEW], request))


async def _description(_: web.Request) -> web.FileResponse:
    return web.FileResponse(DESCRIPTION)


async def _health(request: web.Request) -> web.Response:
    view = request[VIEW]
    told = {
        "schema_version": SCHEMA_VERSION,
        "version": VERSION,
        "wal_head": view.reading.head,
        "trouble": view.trouble,
    }
    return web.json_response(told, status=503 if view.trouble else 200)


async def _printed(request: web.Request) -> web.Response:
    text = await request[VIEW].source.printed(*task_at(request))
    return web.Response(text=clean(text))


async def _text_said(request: web.Request) -> str:
    if request.content_type != "application/json":
        told: object = (await request.post()).get("text", "")
    else:
        try:
            body = json.loads(await request.read() or b"{}")
        except ValueError:  # neither JSON nor UTF-8
            body = None
        told = body.get("text", "") if isinstance(body, dict) else None
    if not isinstance(told, str):
        raise web.HTTPBadRequest(text='Send the text as JSON: {"text": "..."}.\n')
    return told


def routes(access: AccessPolicy, base: str) -> list[web.RouteDef]:
    """Return the routes, below a path; buttons have two, of people and programs."""
    root = base + ROOT
    return [
        web.get(f"{root}/openapi.json", _description),
        web.get(f"{root}/health", _health),
        *(web.get(root + at, partial(_told, one)) for at, one in DOCUMENTS.items()),
        web.get(root + TASK + "/log", _printed),
        *(
            web.post(f"{above}{thing}/{{verb}}", partial(_press, access))
            for above in (base, root)
            for thing in ("/convoys/{convoy}", TASK)
        ),
    ]


async def _press(access: AccessPolicy, request: web.Request) -> web.Response:
    view, task = request[VIEW], 0
    convoy = convoy_at(request)
    if "task" in request.match_info:
        task = task_at(request)[1].number
    if view.source.carry_out is None:
        raise web.HTTPForbidden(text="This dashboard is read-only.\n")
    word = request.match_info["verb"]
    known = (verb_table.BY_TASK_WORD if task else verb_table.BY_CONVOY_WORD).get(word)
    right = known.right if known else "write"
    by = await access.writer(request, view, right)
    text = await _text_said(request)
    try:
        asked = await asyncio.to_thread(verb_table.request_by_word, word, task, text)
    except NoSuchWord as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    except NotPossible as error:
        raise web.HTTPConflict(text=f"{refused(str(error)).text}\n") from error
    asker = Asker(by=by, convoy=convoy.name, allowed=True, at_endpoint=True)
    reply = await view.source.carry_out(asker, asked)
    await view.look()
    if reply.why:
        raise web.HTTPConflict(text=f"{reply.text}\n")
    if ROOT in request.path:
        return web.json_response({"done": True})
    if known:
        request[DONE] = (reply.text, known)
    return web.Response(
        status=303, headers={"Location": request.path.rpartition("/")[0]}
    )
