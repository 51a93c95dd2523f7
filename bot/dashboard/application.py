"""The dashboard's routes, the checks, headers and errors of all of them, and its news.

News are server-sent events, for pages and programs. Their streams are bounded: each
holds a connection until its reader goes.
https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import Final

from aiohttp import web

from bot.dashboard import access_policy, api, page_contents
from bot.dashboard.access_policy import VIEW, AccessPolicy, Visitor
from bot.dashboard.dashboard_source import DashboardSource, RepositoryView
from bot.dashboard.pages import Pages, give_file
from bot.door.listening import CLIENT, listener_at, serving_on
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
            if api.DONE in request and page_contents.SWAPS in request.headers:
                text = page_contents.toast(*request[api.DONE])
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
            *api.routes(access, base),
            web.get(f"{base}/events", stream.answer),
            web.get(f"{base}{api.ROOT}/events", stream.answer),
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
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(view.keep_looking(), name="dashboard watcher")
        try:
            listener = listener_at("127.0.0.1", port, or_any_port=True)
            async with serving_on(listener, app) as bound:
                yield f"http://localhost:{bound}"
        finally:
            looking.cancel()


_KEPT: Final = ("Allow", "Retry-After")


def error_answer(request: web.Request, error: web.HTTPException) -> web.Response:
    said = (error.text or error.reason).strip()
    kept = {name: error.headers[name] for name in _KEPT if name in error.headers}
    headers = access_policy.HEADERS | kept
    if api.ROOT in request.path:
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
