"""Handles the requests for pages: lists in parts, one thing, search, and analytics."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from weakref import WeakValueDictionary

from aiohttp import web

from bot.dashboard import access_policy, dashboard_source, page_contents
from bot.dashboard.dashboard_source import DashboardSource, RepositoryView
from bot.dashboard.drawings import draw_gantt, draw_graph
from bot.dashboard.page_contents import printed_lines
from convoy.model import ids
from convoy.model.session_result import estimate_words
from convoy.model.state import Convoy, State, Task
from convoy.text import clean, counted
from convoy.views import saved_s, worked_s
from convoy.views.analytics import BUCKETS_S, analytics, analytics_summary, engine_costs
from convoy.views.history import LINE_KINDS
from convoy.views.interventions import Intervention, needs_a_person
from convoy.views.plan import approval, plan_document
from convoy.views.reasons import check_marks, merge_train, reasons
from grite.errors import BratError

FRESH_MS: Final = 2000
"""How long a page is reused while the log does not change."""
_ALWAYS_NEW: Final = ("changes", "task")
"""The pages that show what changes while the log does not."""
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
_Key = tuple[str, str, access_policy.Visitor, int]
"""A page's address, the mark of what it tells, who sees it, and when, in `FRESH_MS`."""


class Pages:
    def __init__(self, access: access_policy.AccessPolicy) -> None:
        self._access = access
        self._made: dict[_Key, bytes] = {}
        self._turns: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()

    def routes(self, base: str) -> list[web.RouteDef]:
        pages: tuple[tuple[str, str, Find], ...] = (
            ("/", "overview", _overview),
            ("/waits", "waits", _waits),
            ("/tasks", "tasks", _tasks),
            ("/sessions", "sessions", _sessions),
            ("/convoys", "convoys", _convoys),
            ("/convoys/{convoy}", "convoy", _convoy),
            ("/convoys/{convoy}/changes", "changes", _convoy_changes),
            (access_policy.TASK, "task", _task),
            ("/log", "log", _log),
            ("/search", "search", _searched),
            ("/analytics", "analytics", _analytics),
        )
        return [
            *(
                web.get(base + at, partial(self._page, name, find))
                for at, name, find in pages
            ),
            web.get(base + access_policy.TASK + "/output", _output),
        ]

    async def _page(self, name: str, find: Find, request: web.Request) -> web.Response:
        """Give a page; requests within the same seconds share one rendering of most.

        Each page tells the mark from before its values were read: what is new since
        then renews it.
        """
        view = request[access_policy.VIEW]
        visitor = await self._access.visitor(request, view)
        mark = view.mark

        async def made() -> bytes:
            values = {"mark": mark, **await find(request, view)}
            at = request.path_qs
            return page_contents.page(name, view, visitor, path=at, **values).encode()

        if name in _ALWAYS_NEW:
            return _sent(request, await made(), visitor)
        key = (request.path_qs, mark, visitor, view.now // FRESH_MS)
        async with self._turns.setdefault(key, asyncio.Lock()):
            if key not in self._made:
                page = await made()
                if len(self._made) >= MOST_PAGES:
                    self._made.clear()
                self._made[key] = page
            return _sent(request, self._made[key], visitor)


def _sent(
    request: web.Request, page: bytes, visitor: access_policy.Visitor
) -> web.Response:
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
    name = request.match_info["name"]
    kind = _TYPES.get(Path(name).suffix)
    if kind is None or page_contents.ADDRESSES.get(name) != request.path:
        raise web.HTTPNotFound(text="There is no such file.\n")
    content = page_contents.FILES[name]
    headers = {**_KEEP, "Content-Type": kind}
    if takes_gzip(request):
        headers["Content-Encoding"] = "gzip"
        content = _packed(content, 9)
    return web.Response(body=content, headers=headers)


STATES: Final = ("queued", "running", "blocked", "needs-review", "merged", "dropped")
INTERNAL: Final = ("forge", "locks")
"""Kinds of lines that are shown only to who asks for them."""
KINDS: Final = ("", *dict.fromkeys(LINE_KINDS.values()), "all")
LINE_FILTERS: Final = ("convoy", "kind", "task", "by", "words")


def _part(request: web.Request, rows: Sequence[Any]) -> Values:
    return {"part": list_part(rows, request.query.get("page", ""))}


async def _waits(request: web.Request, view: RepositoryView) -> Values:
    return _part(request, view.waits)


async def _tasks(request: web.Request, view: RepositoryView) -> Values:
    wanted, chosen = request.query.get("state", ""), request.query.get("convoy", "")
    found = [
        each
        for each in _all_tasks(view.state)
        if wanted in ("", each[1].state) and chosen in ("", each[0].name)
    ]
    names = [one.name for one in _newest_first(view.state)]
    filters = {"states": STATES, "wanted": wanted, "convoys": names, "chosen": chosen}
    return {**_part(request, found), **filters}


async def _convoys(request: web.Request, view: RepositoryView) -> Values:
    return _part(request, _newest_first(view.state))


async def _log(request: web.Request, view: RepositoryView) -> Values:
    lines = await asyncio.to_thread(view.source.log)
    wanted = {name: request.query.get(name, "") for name in LINE_FILTERS}
    kind, words = wanted["kind"], wanted["words"].lower().split()
    found = [
        line
        for line in reversed(lines)
        if wanted["convoy"] in ("", line.convoy)
        and wanted["task"] in ("", str(line.task))
        and wanted["by"].lower() in line.by.lower()
        and (kind in ("all", line.kind) or (not kind and line.kind not in INTERNAL))
        and _holds_words(line.text, words)
    ]
    kept = urlencode({name: text for name, text in wanted.items() if text})
    return {
        **_part(request, found),
        "convoys": [convoy.name for convoy in _newest_first(view.state)],
        "kinds": KINDS,
        "wanted": wanted,
        "kept": f"{kept}&" if kept else "",
    }


async def _sessions(request: web.Request, view: RepositoryView) -> Values:
    shown = _part(request, view.state.newest_running())
    return {**shown, "agents": await _agents_at_work(view.source, shown["part"].rows)}


def _newest_first(state: State) -> list[Convoy]:
    """Return all convoys: those that have not ended first, then the newest."""
    newest = state.convoys.newest_first()
    return sorted(newest, key=lambda convoy: convoy.ended)


def _all_tasks(state: State) -> Iterator[tuple[Convoy, Task]]:
    for convoy in state.convoys.newest_first():
        for task in convoy.tasks:
            yield convoy, task


async def _agents_at_work(
    source: DashboardSource, running: Iterable[tuple[Convoy, Task]]
) -> tuple[tuple[Convoy, Task, str], ...]:
    """Return the tasks in session, each with the last line that its agent printed."""
    return await asyncio.to_thread(
        lambda: tuple((*each, _last_line(source, *each)) for each in running)
    )


def _last_line(source: DashboardSource, convoy: Convoy, task: Task) -> str:
    if source.output is None or task.newest_run is None:
        return ""
    for brief in (True, False):  # a long last line may fill the brief end
        said = clean(
            source.output(dashboard_source.newest_session(convoy, task, brief=brief))
        )
        if line := next(filter(str.strip, reversed(said.splitlines())), ""):
            return line
    return ""


HEAD: Final = 5
"""Rows of each list on the first page; every list has a page of its own."""
CLOCKS: Final = 2
URGENT: Final = 4
ROWS: Final = (24, 10)
"""Tasks over time on the first page, of one convoy or of each of more: those where
something happens first.
"""


async def _overview(_: web.Request, view: RepositoryView) -> Values:
    state, waits = view.state, view.waits
    live = [*state.live()]
    newest = live[: -CLOCKS - 1 : -1]
    clocks = []
    rows, most = ROWS[len(newest) > 1], 2 if len(newest) > 1 else HEAD
    for convoy in newest:
        sessions, now = await view.source.sessions(convoy), view.now
        train = merge_train(convoy, view.source.checks())
        progress = {
            "convoy": convoy,
            "needy": needs_a_person(view.waits, convoy.name),
            "gantt": draw_gantt(convoy, sessions, now, rows) if sessions else None,
            "train": train[:most],
            "queued": len(train),
        }
        clocks.append(progress)
    running = state.newest_running()[:HEAD]
    others = [each for each in _newest_first(state) if each not in newest]
    return {
        "headline": _headline(view.trouble, waits, is_busy=bool(live)),
        "live": live,
        "tasks": sum(len(convoy.tasks) for convoy in live),
        "merged": sum(t.state == "merged" for convoy in live for t in convoy.tasks),
        "usd": sum(convoy.used.usd for convoy in live),
        "clocks": clocks,
        "interventions": waits[:URGENT],
        "waiting": len(waits),
        "convoys": others[:HEAD],
        "agents": await _agents_at_work(view.source, running),
        "saved_s": sum(map(saved_s, state.convoys.values())),
    }


def _headline(trouble: str, waits: Sequence[Intervention], *, is_busy: bool) -> str:
    if trouble:
        return "The log cannot be read"
    if needs_a_person(waits):
        items = counted(len(waits), "item")
        return f"{items} {'is' if len(waits) == 1 else 'are'} waiting for you"
    return "Nothing is waiting for you" if is_busy else "Nothing is in progress"


LOOKS: Final = ("timeline", "list", "graph", "plan")
TIMELINE: Final = 50
"""Tasks over time on a convoy's page: those where something happens first."""


async def _convoy(request: web.Request, view: RepositoryView) -> Values:
    convoy, now = access_policy.convoy_at(request), view.now
    sessions = await view.source.sessions(convoy)
    asked, wanted = approval(convoy), request.query.get("view", "")
    hidden = {"timeline": not sessions, "plan": bool(asked) or not convoy.tasks}
    looks = [name for name in LOOKS if not hidden.get(name)]
    look = wanted if wanted in looks else looks[0]
    is_timeline = look == "timeline"
    return {
        "convoy": convoy,
        "tasks": convoy.tasks,
        "base": ids.base_branch(convoy.name),
        "looks": looks,
        "look": look,
        "drawing": draw_graph(convoy) if look == "graph" else None,
        "gantt": draw_gantt(convoy, sessions, now, TIMELINE) if is_timeline else None,
        "estimate": estimate_words(convoy.estimate),
        "approval": asked,
        "plan": plan_document(convoy) if asked or look == "plan" else None,
        "train": merge_train(convoy, view.source.checks()),
        "decisions": await view.source.decisions(convoy),
        "interventions": [each for each in view.waits if each.convoy == convoy.name],
        "worked_s": worked_s(convoy),
        "saved_s": saved_s(convoy),
        "changes": await _changes(view.source, convoy.changed),
    }


async def _task(request: web.Request, view: RepositoryView) -> Values:
    (convoy, task), source = access_policy.task_at(request), view.source
    sessions = reversed(await source.sessions(convoy))
    tried = [one for one in sessions if one.task == task.number]
    wanted = request.query.get("attempt", "")
    chosen = next((one for one in tried if str(one.attempt) == wanted), None)
    output = (
        await source.output_of(dashboard_source.past_session(convoy, chosen))
        if chosen
        else await source.printed(convoy, task)
    )
    checks = source.checks().get(task.candidate.commit) if task.candidate else None
    return {
        "convoy": convoy,
        "task": task,
        "branch": ids.task_branch(convoy.name, task.number),
        "reasons": reasons(view.state, convoy, task, view.now),
        "output": output,
        "failing": [line for line in printed_lines(output) if line.is_bad],
        "checks": check_marks(checks) if checks else (),
        "attempts": tried,
        "chosen": chosen,
        "changes": await _changes(source, task.changed),
    }


async def _convoy_changes(request: web.Request, view: RepositoryView) -> Values:
    convoy = access_policy.convoy_at(request)
    return {"convoy": convoy, "changes": await _changes(view.source, convoy.changed)}


async def _changes(
    source: DashboardSource, changed: tuple[str, str] | None
) -> dashboard_source.Changes | None:
    return await asyncio.to_thread(source.changes, *changed) if changed else None


async def _output(request: web.Request) -> web.Response:
    """Give a session's output; status 286 tells htmx to stop polling.

    https://htmx.org/docs/#polling
    """
    view = request[access_policy.VIEW]
    convoy, task = access_policy.task_at(request)
    text = page_contents.printed(
        await view.source.printed(convoy, task),
        f"{request.path.removesuffix('/output')}?attempt={task.started}",
    )
    status = 200 if task.attempt else 286
    return web.Response(text=text, content_type="text/html", status=status)


PAGE_ROWS: Final = 50
DIGITS: Final = 6


@dataclass(frozen=True)
class ListPart:
    rows: Sequence[Any]
    count: int
    number: int
    last: int


def list_part(rows: Sequence[Any], wanted: str) -> ListPart:
    """Return the page that a query names, or the nearest; if invalid, the first."""
    last = max(1, -(-len(rows) // PAGE_ROWS))
    plain = wanted.isascii() and wanted.isdigit() and len(wanted) <= DIGITS
    number = min(max(int(wanted), 1), last) if plain else 1
    shown = rows[(number - 1) * PAGE_ROWS : number * PAGE_ROWS]
    return ListPart(rows=shown, count=len(rows), number=number, last=last)


MOST_FOUND: Final = 30
"""Of each kind of thing a search shows so many at most."""
MOST_SESSIONS: Final = 200
"""So many tasks' newest sessions are searched: those of the newest convoys."""
LINES_EACH: Final = 3
"""Of each session so many lines are shown, the last first."""
Printed = tuple[Convoy, Task, tuple[str, ...]]
"""What a task's newest session printed that holds the words, the last line first."""


async def _searched(request: web.Request, view: RepositoryView) -> Values:
    """Return what holds all of the words."""
    words, state, source = request.query.get("words", ""), view.state, view.source
    wanted = words.lower().split()

    def fits(*texts: str) -> bool:
        return bool(wanted) and _holds_words(" ".join(texts), wanted)

    logged = await asyncio.to_thread(source.log)
    lines = (line for line in reversed(logged) if fits(line.convoy, line.text))
    convoys = (
        one for one in _newest_first(state) if fits(one.name, one.title, one.text)
    )
    tasks = (
        (convoy, task)
        for convoy, task in _all_tasks(state)
        if fits(
            f"{convoy.name} task {task.number}",
            *(task.spec.title, task.spec.instructions, task.spec.engine, task.why),
            *task.spec.paths,
            *task.touched,
        )
    )
    waits = (one for one in view.waits if fits(one.convoy, one.why))
    printed: tuple[Printed, ...] = ()
    if source.output is not None and wanted:
        found = _printed_lines(source.output, state, wanted)
        printed = await asyncio.to_thread(lambda: tuple(islice(found, MOST_FOUND)))
    return {
        "words": words,
        "convoys": tuple(islice(convoys, MOST_FOUND)),
        "tasks": tuple(islice(tasks, MOST_FOUND)),
        "interventions": tuple(islice(waits, MOST_FOUND)),
        "lines": tuple(islice(lines, MOST_FOUND)),
        "printed": printed,
    }


def _printed_lines(
    output: dashboard_source.Output, state: State, wanted: list[str]
) -> Iterator[Printed]:
    """Give the newest sessions with lines that hold all of the words."""
    tried = (each for each in _all_tasks(state) if each[1].newest_run is not None)
    for convoy, task in islice(tried, MOST_SESSIONS):
        text = clean(output(dashboard_source.newest_session(convoy, task)))
        lines = (
            line for line in reversed(text.splitlines()) if _holds_words(line, wanted)
        )
        if shown := tuple(islice(lines, LINES_EACH)):
            yield convoy, task, shown


def _holds_words(text: str, wanted: Iterable[str]) -> bool:
    low = text.lower()
    return all(word in low for word in wanted)


WEEK_MS: Final = 7 * 86_400_000


async def _analytics(_: web.Request, view: RepositoryView) -> Values:
    now = view.now
    try:
        found, week, ever = await asyncio.to_thread(
            view.source.history.told,
            lambda log: (
                analytics(log.changes),
                engine_costs(log.changes, now - WEEK_MS),
                engine_costs(log.changes, 0),
            ),
        )
    except BratError as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    return {
        "found": found,
        "summary": analytics_summary(found),
        "limits": (*BUCKETS_S,),
        "week": week,
        "ever": ever,
    }
