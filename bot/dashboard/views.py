"""Handles the requests for pages: lists in parts, search, and analytics."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode
from weakref import WeakValueDictionary

from aiohttp import web

from bot.dashboard import api, page_contents
from bot.dashboard.access_policy import (
    AccessPolicy,
    RepositoryView,
    Visitor,
    convoy_at,
    task_at,
    view_of,
)
from bot.dashboard.dashboard_source import (
    MOST_LINES,
    Changes,
    DashboardSource,
    Output,
    newest_session,
)
from bot.dashboard.page_contents import (
    MOST_FOUND,
    agents_at_work,
    all_tasks,
    holds_words,
    session_of,
)
from convoy.model.state import Convoy, State, Task
from convoy.text import clean
from convoy.views.analytics import BUCKETS_S, analytics_summary
from grite.errors import BratError

FRESH_MS: Final = 2000
"""How long a page is reused while the log does not change."""
MOST_PAGES: Final = 64
GZIP_LEVEL: Final = 5
"""The gzip level of pages: above it, they take longer and are hardly shorter."""
_KEEP: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Vary": "Accept-Encoding",
}
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

Values = Mapping[str, Any]
Find = Callable[[web.Request, RepositoryView], Awaitable[Values]]
_Key = tuple[str, str, Visitor, int]
"""A page's address, the mark of what it tells, who sees it, and when, in `FRESH_MS`."""


class Views:
    def __init__(self, access: AccessPolicy) -> None:
        self._access = access
        self._made: dict[_Key, bytes] = {}
        self._turns: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()

    def routes(self, base: str) -> list[web.RouteDef]:
        pages = (
            ("/", "overview", _overview),
            ("/waits", "waits", _waits),
            ("/tasks", "tasks", _tasks),
            ("/sessions", "sessions", _sessions),
            ("/convoys", "convoys", _convoys),
            ("/convoys/{convoy}", "convoy", _convoy),
            ("/log", "log", _log),
            ("/search", "search", _searched),
            ("/analytics", "analytics", _analytics),
        )
        task = base + api.TASK
        return [
            *(
                web.get(base + at, partial(self._kept, name, find))
                for at, name, find in pages
            ),
            web.get(
                base + "/convoys/{convoy}/changes",
                partial(self._page, "changes", _convoy_changes),
            ),
            web.get(task, partial(self._page, "task", _task)),
            web.get(task + "/output", _output),
        ]

    async def _kept(self, name: str, find: Find, request: web.Request) -> web.Response:
        """Give a page; requests within the same seconds share one rendering."""
        view = view_of(request)
        visitor = await self._access.visitor(request, view)
        mark = view.watcher.mark
        key = (request.path_qs, mark, visitor, view.now // FRESH_MS)
        async with self._turns.setdefault(key, asyncio.Lock()):
            if key not in self._made:
                values = await find(request, view)
                if len(self._made) >= MOST_PAGES:
                    self._made.clear()
                self._made[key] = _page(name, request, visitor, mark, values)
            return _sent(request, self._made[key], visitor)

    async def _page(self, name: str, find: Find, request: web.Request) -> web.Response:
        view = view_of(request)
        mark = view.watcher.mark
        values = await find(request, view)
        visitor = await self._access.visitor(request, view)
        return _sent(request, _page(name, request, visitor, mark, values), visitor)


def _page(
    name: str, request: web.Request, visitor: Visitor, mark: str, values: Values
) -> bytes:
    """Return a page, with the mark from before its values were read.

    What is new since then renews it.
    """
    view, told = view_of(request), {"path": request.path_qs, "mark": mark, **values}
    return page_contents.page(name, view, visitor, **told).encode()


def _sent(request: web.Request, page: bytes, visitor: Visitor) -> web.Response:
    """Return a page as this browser wants it.

    What holds a form's token is never compressed: its length would let an attacker with
    text on the page guess the token (https://www.breachattack.com/).
    """
    answer = web.Response(body=page, content_type="text/html", charset="utf-8")
    if not visitor.csrf and takes_gzip(request):
        answer.body = _packed(page, GZIP_LEVEL)
        answer.headers["Content-Encoding"] = "gzip"
        answer.headers["Vary"] = "Accept-Encoding"
    return answer


@lru_cache(maxsize=2 * MOST_PAGES)
def _packed(content: bytes, level: int) -> bytes:
    return gzip.compress(content, level, mtime=0)


def takes_gzip(request: web.Request) -> bool:
    said = request.headers.get("Accept-Encoding", "").replace(" ", "").lower()
    return "gzip" in said.split(",") or "gzip;q=1" in said


async def give_file(request: web.Request) -> web.Response:
    name, content = page_contents.FILE_AT.get(request.path, ("", b""))
    kind = _TYPES.get(Path(name).suffix)
    if kind is None:
        raise web.HTTPNotFound(text="There is no such file.\n")
    headers = {**_KEEP, "Content-Type": kind}
    if takes_gzip(request):
        headers["Content-Encoding"] = "gzip"
        content = _packed(content, 9)
    return web.Response(body=content, headers=headers)


# --- lists ----------------------------------------------------------------------------


def _listed(
    request: web.Request, rows: Sequence[Any], more: Values | None = None
) -> Values:
    return {"part": list_part(rows, request.query.get("page", "")), **(more or {})}


async def _waits(request: web.Request, view: RepositoryView) -> Values:
    return _listed(request, view.waits)


async def _tasks(request: web.Request, view: RepositoryView) -> Values:
    wanted, convoy = request.query.get("state", ""), request.query.get("convoy", "")
    return _listed(request, *page_contents.task_rows(view.state, wanted, convoy))


async def _convoys(request: web.Request, view: RepositoryView) -> Values:
    return _listed(request, page_contents.newest_first(view.state))


async def _log(request: web.Request, view: RepositoryView) -> Values:
    lines = await asyncio.to_thread(view.source.log, MOST_LINES)
    wanted = {name: request.query.get(name, "") for name in page_contents.LINE_FILTERS}
    kept = urlencode({name: text for name, text in wanted.items() if text})
    rows, more = page_contents.line_rows(view.state, lines, wanted)
    return _listed(request, rows, {**more, "kept": f"{kept}&" if kept else ""})


async def _sessions(request: web.Request, view: RepositoryView) -> Values:
    shown = _listed(request, view.state.newest_running())
    return {**shown, "agents": await agents_at_work(view.source, shown["part"].rows)}


# --- one thing ------------------------------------------------------------------------


async def _overview(_: web.Request, view: RepositoryView) -> Values:
    newest = reversed([*view.state.live()][-page_contents.CLOCKS :])
    clocks = [(convoy, await view.source.sessions(convoy)) for convoy in newest]
    running = view.state.newest_running()[: page_contents.HEAD]
    agents = await agents_at_work(view.source, running)
    return page_contents.overview(view, clocks, agents)


async def _searched(request: web.Request, view: RepositoryView) -> Values:
    words = request.query.get("words", "")
    lines = await asyncio.to_thread(view.source.log, MOST_LINES)
    said = await search_printed(view.source, view.state, words)
    return {**page_contents.search_values(view, lines, words), "printed": said}


async def _convoy(request: web.Request, view: RepositoryView) -> Values:
    convoy = convoy_at(view.state, request)
    sessions = await view.source.sessions(convoy)
    decisions = await view.source.decisions(convoy)
    wanted = request.query.get("view", "")
    told = page_contents.of_convoy(view, convoy, sessions, decisions, wanted)
    return {**told, "changes": await _changes(view.source, convoy.changed)}


async def _task(request: web.Request, view: RepositoryView) -> Values:
    (convoy, task), source = task_at(view.state, request), view.source
    sessions = reversed(await source.sessions(convoy))
    tried = [one for one in sessions if one.task == task.number]
    wanted = request.query.get("attempt", "")
    chosen = next((one for one in tried if str(one.attempt) == wanted), None)
    output = await (
        source.output_of(session_of(convoy.name, chosen))
        if chosen
        else source.printed(convoy, task)
    )
    changes = await _changes(source, task.changed)
    more = {"attempts": tried, "chosen": chosen, "changes": changes}
    return {**page_contents.of_task(view, convoy, task, output), **more}


async def _convoy_changes(request: web.Request, view: RepositoryView) -> Values:
    convoy = convoy_at(view.state, request)
    return {"convoy": convoy, "changes": await _changes(view.source, convoy.changed)}


async def _changes(
    source: DashboardSource, changed: tuple[str, str] | None
) -> Changes | None:
    return await asyncio.to_thread(source.changes, *changed) if changed else None


async def _output(request: web.Request) -> web.Response:
    """Give a session's output; status 286 tells htmx to stop polling.

    https://htmx.org/docs/#polling
    """
    view = view_of(request)
    convoy, task = task_at(view.state, request)
    text = page_contents.printed(
        await view.source.printed(convoy, task),
        f"{request.path.removesuffix('/output')}?attempt={task.started}",
    )
    status = 200 if task.attempt else 286
    return web.Response(text=text, content_type="text/html", status=status)


Row = TypeVar("Row")
PAGE_ROWS: Final = 50
DIGITS: Final = 6


@dataclass(frozen=True)
class ListPart(Generic[Row]):
    rows: Sequence[Row]
    count: int
    number: int
    last: int


def list_part(rows: Sequence[Row], wanted: str) -> ListPart[Row]:
    """Return the page that a query names, or the nearest; if invalid, the first."""
    last = max(1, -(-len(rows) // PAGE_ROWS))
    plain = wanted.isascii() and wanted.isdigit() and len(wanted) <= DIGITS
    number = min(max(int(wanted), 1), last) if plain else 1
    shown = rows[(number - 1) * PAGE_ROWS : number * PAGE_ROWS]
    return ListPart(rows=shown, count=len(rows), number=number, last=last)


MOST_SESSIONS: Final = 200
"""So many tasks' newest sessions are searched: those of the newest convoys."""
LINES_EACH: Final = 3
"""Of each session so many lines are shown, the last first."""
Printed = tuple[Convoy, Task, tuple[str, ...]]
"""What a task's newest session printed that holds the words, the last line first."""


async def search_printed(
    source: DashboardSource, state: State, words: str
) -> tuple[Printed, ...]:
    """Return the newest sessions with lines that hold all of the words."""
    wanted = words.lower().split()
    output = source.output
    if output is None or not source.output_is_here or not wanted:
        return ()
    tried = (each for each in all_tasks(state) if each[1].newest_run is not None)
    newest = tuple(islice(tried, MOST_SESSIONS))
    return await asyncio.to_thread(
        lambda: tuple(islice(_found_lines(output, newest, wanted), MOST_FOUND))
    )


def _found_lines(
    output: Output, tried: Sequence[tuple[Convoy, Task]], wanted: list[str]
) -> Iterator[Printed]:
    for convoy, task in tried:
        text = clean(output(newest_session(convoy, task)))
        lines = (
            line for line in reversed(text.splitlines()) if holds_words(line, wanted)
        )
        if shown := tuple(islice(lines, LINES_EACH)):
            yield convoy, task, shown


WEEK_MS: Final = 7 * 86_400_000


async def _analytics(_: web.Request, view: RepositoryView) -> Values:
    history, now = view.source.history, view.now
    if history is None:
        raise web.HTTPNotFound(text="This dashboard does not have the whole log.\n")
    try:
        found = await asyncio.to_thread(history.figures)
        week = await asyncio.to_thread(history.costs, now - WEEK_MS)
        ever = await asyncio.to_thread(history.costs, 0)
    except BratError as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    return {
        "found": found,
        "summary": analytics_summary(found),
        "limits": (*BUCKETS_S,),
        "week": week,
        "ever": ever,
    }
