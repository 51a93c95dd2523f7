"""The dashboard's routes, the checks, headers and errors of all of them, and its news.

News are server-sent events, for pages and programs. Their streams are bounded: each
holds a connection until its reader goes.
https://html.spec.whatwg.org/multipage/server-sent-events.html

Below `/api/v1` is the JSON interface, with the buttons of people and programs.
`openapi.json` describes it; a test checks every response against that description.
"""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from bot import VERSION
from bot.dashboard import access_policy, page_contents
from bot.dashboard.access_policy import (
    TASK,
    VIEW,
    AccessPolicy,
    Visitor,
    convoy_at,
    task_at,
)
from bot.dashboard.dashboard_source import DashboardSource, RepositoryView
from bot.dashboard.pages import Pages, give_file
from bot.door.listening import CLIENT, listener_at, serving_on
from bot.requests import verb_table
from bot.requests.verb import Asker, NotPossible, Verb
from bot.requests.verb_table import NoSuchWord
from bot.text.replies import refused
from convoy import views
from convoy.text import clean
from convoy.views import SCHEMA_VERSION
from grite.errors import BratError

PORT: Final = 5173
FORM_BYTES: Final = 64 * 1024
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def dashboard_application(access: AccessPolicy, base: str = "") -> web.Application:
    """Return what answers every request of one dashboard; for one event loop."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        answer: web.StreamResponse
        try:
            welcome = await access.admit(request)
            if welcome is None and (view := await access.view(request)):
                request[VIEW] = view
            answer = welcome or await handler(request)
            if DONE in request and page_contents.SWAPS in request.headers:
                text = page_contents.toast(*request[DONE])
                answer = web.Response(text=text, content_type="text/html")
        except BratError as error:
            fault = web.HTTPServiceUnavailable(text=f"{error}; try again.\n")
            answer = error_answer(request, fault)
        except web.HTTPException as error:
            if error.status < HTTPStatus.BAD_REQUEST:  # a redirect
                error.headers.update(access_policy.HEADERS)
                raise
            answer = error_answer(request, error)
        if not answer.prepared:
            for name, value in access_policy.HEADERS.items():
                answer.headers.setdefault(name, value)
        return answer

    app = web.Application(middlewares=[guarded], client_max_size=FORM_BYTES)
    stream = Stream(access)
    app.add_routes(
        [
            *Pages(access).routes(base),
            *_api_routes(access, base),
            web.get(f"{base}/events", stream.answer),
            web.get(f"{base}{ROOT}/events", stream.answer),
            web.get("/healthz", _healthy),
            web.get("/static/{digest}/{name}", give_file),
        ]
    )
    return app


async def _healthy(_request: web.Request) -> web.Response:
    return web.Response(text="ok\n")


@asynccontextmanager
async def serving(source: DashboardSource, port: int = PORT) -> AsyncIterator[str]:
    """Serve a dashboard on loopback and give its address; any port if it is taken."""
    view = RepositoryView(source)
    await view.look()
    access = access_policy.TokenAccess(view)
    app = dashboard_application(access)
    try:
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(view.keep_looking(), name="dashboard watcher")
            try:
                listener = listener_at("127.0.0.1", port, or_any_port=True)
                async with serving_on(listener, app) as bound:
                    yield f"http://localhost:{bound}"
            finally:
                looking.cancel()
    except BaseExceptionGroup as only:  # the block's, or that of looking
        raise only.exceptions[0] from None


_KEPT: Final = ("Allow", "Retry-After")


def error_answer(request: web.Request, error: web.HTTPException) -> web.Response:
    said = (error.text or error.reason).strip()
    if said == f"{error.status}: {error.reason}":
        is_none = error.status == HTTPStatus.NOT_FOUND
        said = "there is nothing at this address" if is_none else error.reason
    kept = {name: error.headers[name] for name in _KEPT if name in error.headers}
    headers = access_policy.HEADERS | kept
    if ROOT in request.path:
        told = {"error": said}
        return web.json_response(told, status=error.status, headers=headers)
    text, kind = f"{said}\n", "text/plain"
    if page_contents.SWAPS in request.headers:
        text, kind = page_contents.toast(said), "text/html"
    elif "text/html" in request.headers.get("Accept", ""):
        text, kind = page_contents.fault(error.status, said), "text/html"
    return web.Response(
        text=text, content_type=kind, status=error.status, headers=headers
    )


PING_S: Final = 15.0
"""How often a silent stream sends a ping, so that no proxy closes it."""
MOST_STREAMS: Final = 160
MOST_ANONYMOUS: Final = 96
"""Of these, how many people may hold who are not signed in."""
MOST_EACH: Final = 16
"""How many one person may hold, or one client if nobody is signed in."""


class Stream:
    def __init__(self, access: AccessPolicy) -> None:
        self._access = access
        self._open: list[tuple[web.Request, tuple[str, str]]] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Stream one `changed` for every change.

        Changes between a page and its stream, or while the stream was cut, count too.
        """
        view = request[VIEW]
        visitor = await self._access.visitor(request, view)
        answer = web.StreamResponse(
            headers=access_policy.HEADERS | {"Content-Type": "text/event-stream"}
        )
        since = request.query.get("since", view.mark)
        known = request.headers.get("Last-Event-ID", since)
        with (
            self._one_more(request, visitor),
            contextlib.suppress(ConnectionError),
        ):
            await answer.prepare(request)
            while True:
                try:
                    async with asyncio.timeout(PING_S):
                        known = await view.after(known)
                except TimeoutError:
                    await answer.write(b": still here\n\n")
                else:
                    said = f"event: changed\nid: {known}\ndata: {known}\n\n"
                    await answer.write(said.encode())
        return answer

    @contextmanager
    def _one_more(self, request: web.Request, visitor: Visitor) -> Iterator[None]:
        """Count a stream for as long as the block lasts and its reader is there.

        One whose reader has gone ends with its next ping.
        """
        known = bool(visitor.login) or visitor.may_write
        kind = "person" if known else "anonymous"
        who = (kind, visitor.login if known else request.get(CLIENT, ""))
        held = Counter(each for to, each in self._open if to.transport is not None)
        anonymous = sum(n for each, n in held.items() if each[0] == "anonymous")
        full = (
            held.total() >= MOST_STREAMS
            or (not known and anonymous >= MOST_ANONYMOUS)
            or (who[1] and held[who] >= MOST_EACH)
        )
        if full:
            raise web.HTTPServiceUnavailable(
                text="Too many pages are open: close some, then reload this one.\n",
                headers={"Retry-After": "60"},
            )
        self._open.append((request, who))
        try:
            yield
        finally:
            self._open.remove((request, who))


ROOT: Final = "/api/v1"
DESCRIPTION: Final = Path(__file__).with_name("openapi.json")
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
        except (ValueError, RecursionError):  # neither JSON nor UTF-8, or too deep
            body = None
        told = body.get("text", "") if isinstance(body, dict) else None
    if not isinstance(told, str):
        raise web.HTTPBadRequest(text='Send the text as JSON: {"text": "..."}.\n')
    return told


def _api_routes(access: AccessPolicy, base: str) -> list[web.RouteDef]:
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
