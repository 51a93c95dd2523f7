"""Handles the requests for pages: lists in parts, search, analytics, and the past.

The page of a convoy can be seen as it was after each step of its log.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from aiohttp import web
from msgspec import Struct

from bot.dashboard import api, drawings, page_contents
from bot.dashboard.access_policy import AccessPolicy, convoy_at, task_at, view_of
from bot.dashboard.assets import CachedPage, PageCache
from bot.dashboard.dashboard_source import (
    MOST_LINES,
    DashboardSource,
    LogHistory,
    Output,
    newest_session,
)
from bot.dashboard.page_contents import (
    MOST_FOUND,
    agents_at_work,
    all_tasks,
    attempts_at,
    holds_words,
    session_of,
)
from convoy.log.record import LogStep
from convoy.model.session_result import dollars
from convoy.model.state import Convoy, State, Task
from convoy.rules.starting import valid_leases
from convoy.text import spoken_duration
from convoy.views.analytics import (
    Analytics,
    EngineCost,
    TimeSpread,
    analytics_summary,
    csv_text,
)
from convoy.views.reasons import waits_for
from grite.errors import BratError

Given = Callable[[], Mapping[str, Any]]
"""Returns a page's values."""


class Views:
    """Answers requests for pages."""

    def __init__(self, access: AccessPolicy) -> None:
        """Let `access` decide each visitor's rights."""
        self._access = access
        self._shelf = PageCache()

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return the routes of all pages, below a path."""
        task = base + api.TASK
        return [
            web.get(f"{base}/", self._overview),
            web.get(f"{base}/waits", self._waits),
            web.get(f"{base}/tasks", self._tasks),
            web.get(f"{base}/sessions", self._sessions),
            web.get(f"{base}/convoys", self._convoys),
            web.get(f"{base}/convoys/{{convoy}}", self._convoy),
            web.get(f"{base}/convoys/{{convoy}}/replay", self._replay),
            web.get(task, self._task),
            web.get(task + "/output", self._output),
            web.get(f"{base}/log", self._log),
            web.get(f"{base}/search", self._search),
            web.get(f"{base}/analytics", self._analytics),
            web.get(f"{base}/analytics.csv", self._table),
        ]

    async def _page(
        self, request: web.Request, name: str, given: Given
    ) -> web.Response:
        """Give a page; requests within the same seconds share one rendering."""
        view = view_of(request)
        visitor = await self._access.visitor(request, view)

        def make() -> str:
            return page_contents.page(name, view, request.path_qs, visitor, **given())

        return self._shelf.page(request, view, visitor, make).answer(request)

    async def _found(
        self, request: web.Request, name: str, find: Callable[[], Awaitable[Given]]
    ) -> web.Response:
        """Give a page whose values take time to find; it is shared as any is."""
        view = view_of(request)
        visitor = await self._access.visitor(request, view)
        if known := self._shelf.known(request, view, visitor):
            return known.answer(request)
        return await self._page(request, name, await find())

    async def _overview(self, request: web.Request) -> web.Response:
        return await self._found(request, "overview", partial(_overview, request))

    # --- lists ------------------------------------------------------------------------

    async def _list(
        self, request: web.Request, name: str, found: Callable[[], page_contents.Rows]
    ) -> web.Response:
        def given() -> Mapping[str, Any]:
            rows, more = found()
            return {"part": list_part(rows, request.query.get("page", "")), **more}

        return await self._page(request, name, given)

    async def _waits(self, request: web.Request) -> web.Response:
        return await self._list(
            request, "waits", lambda: page_contents.waiting_rows(view_of(request))
        )

    async def _tasks(self, request: web.Request) -> web.Response:
        wanted = request.query.get("state", "")
        return await self._list(
            request,
            "tasks",
            lambda: page_contents.task_rows(view_of(request).state, wanted),
        )

    async def _sessions(self, request: web.Request) -> web.Response:
        return await self._found(request, "sessions", partial(_sessions, request))

    async def _convoys(self, request: web.Request) -> web.Response:
        return await self._list(
            request,
            "convoys",
            lambda: page_contents.convoy_rows(view_of(request).state),
        )

    async def _log(self, request: web.Request) -> web.Response:
        view, query = view_of(request), request.query
        lines = await asyncio.to_thread(view.source.log, MOST_LINES)
        wanted, words = query.get("convoy", ""), query.get("words", "")
        return await self._list(
            request,
            "log",
            lambda: page_contents.line_rows(view.state, lines, wanted, words),
        )

    async def _search(self, request: web.Request) -> web.Response:
        return await self._found(request, "search", partial(_searched, request))

    async def _analytics(self, request: web.Request) -> web.Response:
        view = view_of(request)
        shown = await analytics_values(view.source, view.now)
        return await self._page(request, "analytics", lambda: shown)

    async def _table(self, request: web.Request) -> web.Response:
        return await analytics_table(view_of(request).source)

    # --- one thing --------------------------------------------------------------------

    async def _convoy(self, request: web.Request) -> web.Response:
        view = view_of(request)
        convoy = convoy_at(view.state, request)
        sessions = await view.source.sessions(convoy)
        decisions = await view.source.decisions(convoy)
        return await self._page(
            request,
            "convoy",
            lambda: page_contents.of_convoy(
                view.state, convoy, view.now, sessions, view.source.checks(), decisions
            ),
        )

    async def _replay(self, request: web.Request) -> web.Response:
        """Give a convoy's page as it was after one of the steps of its log."""
        view = view_of(request)
        convoy = convoy_at(view.state, request)
        step = request.query.get("step", "")
        found = await replayed(view.source, convoy.name, step)
        visitor = await self._access.visitor(request, view)
        shown = replay_values(found)
        text = page_contents.page("replay", view, request.path_qs, visitor, **shown)
        return CachedPage(text.encode(), secret=bool(visitor.csrf)).answer(request)

    async def _task(self, request: web.Request) -> web.Response:
        """Give a task's page, with its session's output so far."""
        view = view_of(request)
        convoy, task = task_at(view.state, request)
        tried = attempts_at(await view.source.sessions(convoy), task.number)
        wanted = request.query.get("attempt", "")
        chosen = next(
            (one.past for one in tried if str(one.past.attempt) == wanted), None
        )
        shown = page_contents.of_task(
            view,
            convoy,
            task,
            await view.source.output_of(session_of(convoy.name, chosen))
            if chosen
            else await view.source.printed(convoy, task),
        )
        work = task.work
        changes = (
            await asyncio.to_thread(view.source.changes, work.commit, work.base)
            if work
            else None
        )
        more = {"attempts": tried, "chosen": chosen, "changes": changes}
        visitor = await self._access.visitor(request, view)
        text = page_contents.page(
            "task", view, request.path_qs, visitor, **shown, **more
        )
        return CachedPage(text.encode(), secret=bool(visitor.csrf)).answer(request)

    async def _output(self, request: web.Request) -> web.Response:
        """Give a session's output; status 286 tells htmx to stop polling.

        https://htmx.org/docs/#polling
        """
        convoy, task = task_at(view_of(request).state, request)
        text = page_contents.escaped(
            await view_of(request).source.printed(convoy, task)
        )
        status = 200 if task.attempt else 286
        return web.Response(text=text, content_type="text/html", status=status)


async def _overview(request: web.Request) -> Given:
    view = view_of(request)
    live = page_contents.newest_live(view.state)
    clocks = [(convoy, await view.source.sessions(convoy)) for convoy in live]
    running = islice(view.state.running(), page_contents.HEAD)
    agents = await agents_at_work(view.source, running)
    return partial(page_contents.overview, view, clocks, agents)


async def _searched(request: web.Request) -> Given:
    view, words = view_of(request), request.query.get("words", "")
    lines = await asyncio.to_thread(view.source.log, MOST_LINES)
    said = await search_printed(view.source, view.state, words)
    return lambda: {**page_contents.search_values(view, lines, words), "printed": said}


async def _sessions(request: web.Request) -> Given:
    view = view_of(request)
    shown = list_part([*view.state.running()], request.query.get("page", ""))
    agents = await agents_at_work(view.source, shown.rows)
    return lambda: {"part": shown, "agents": agents}


Row = TypeVar("Row")

PAGE_ROWS: Final = 50
"""Rows on one page."""
DIGITS: Final = 6


@dataclass(frozen=True)
class ListPart(Generic[Row]):
    """One page of a list."""

    rows: Sequence[Row]
    count: int
    """The number of rows in the whole list."""
    number: int
    """The number of this page, from 1."""
    last: int
    """The number of pages; at least 1."""


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


class Printed(Struct, frozen=True, kw_only=True):
    """What a task's newest session printed that holds the words."""

    convoy: Convoy
    task: Task
    lines: tuple[str, ...]
    """The last first."""


async def search_printed(
    source: DashboardSource, state: State, words: str
) -> tuple[Printed, ...]:
    """Return the sessions with lines that hold all of the words, the newest first.

    Nothing is found by no words, or where outputs are elsewhere.
    """
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
        text = output(newest_session(convoy, task))
        lines = (
            line for line in reversed(text.splitlines()) if holds_words(line, wanted)
        )
        if shown := tuple(islice(lines, LINES_EACH)):
            yield Printed(convoy=convoy, task=task, lines=shown)


WEEK_MS: Final = 7 * 86_400_000


async def analytics_values(source: DashboardSource, now: int) -> Mapping[str, Any]:
    """Return the page's values."""
    history = _history_of(source)
    try:
        found = await asyncio.to_thread(history.figures)
        week = await asyncio.to_thread(history.costs, now - WEEK_MS)
        ever = await asyncio.to_thread(history.costs, 0)
    except BratError as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    priced = [one for one in found.engines if one.usd]
    return {
        "found": found,
        "summary": analytics_summary(found),
        "bars": drawings.chart_bars(found.per_day),
        "width": drawings.CHART_WIDTH,
        "height": drawings.CHART_HEIGHT,
        "stages": _spreads(found.stages),
        "engines": _engines(found),
        "week": _costs(week),
        "ever": _costs(ever),
        "lengths": drawings.lying_bars(
            [(name, one.median, one.most) for name, one in found.stages.items()]
        ),
        "shares": drawings.lying_bars(
            [(f"{one.engine}, {one.kind}", one.percent, 100) for one in found.engines]
        ),
        "each": drawings.lying_bars(
            [(f"{one.engine}, {one.kind}", one.usd / one.changes, 0) for one in priced]
        ),
        "runs": drawings.lying_bars(
            [
                (f"{one.engine}, {one.kind}", round(one.ci_runs / one.changes, 2), 0)
                for one in found.engines
            ]
        ),
        "money": drawings.lying_bars([(one.engine, one.usd, 0) for one in week]),
        "causes": drawings.lying_bars([(name, n, 0) for name, n in found.rework]),
        "flaky": drawings.lying_bars([(name, n, 0) for name, n in found.flakes]),
        "answers": drawings.lying_bars(
            [(what, one.median, one.most) for what, one in found.asked.items()]
        ),
        "asked": _spreads(found.asked),
    }


async def analytics_table(source: DashboardSource) -> web.Response:
    """Return the changes as CSV; raises as `given` does."""
    try:
        found = await asyncio.to_thread(_history_of(source).rows)
    except BratError as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    return web.Response(text=csv_text(found), content_type="text/csv")


def _history_of(source: DashboardSource) -> LogHistory:
    if source.history is None:
        raise web.HTTPNotFound(text="This dashboard does not hold the whole log.\n")
    return source.history


def _costs(costs: Iterable[EngineCost]) -> list[tuple[object, ...]]:
    return [
        (
            one.engine,
            one.sessions,
            f"{one.tokens:,}",
            dollars(one.usd) if one.usd else "not known",
        )
        for one in costs
    ]


def _spreads(found: Mapping[str, TimeSpread]) -> list[tuple[object, ...]]:
    return [
        (
            name,
            one.count,
            spoken_duration(round(one.median)),
            spoken_duration(round(one.most)),
        )
        for name, one in found.items()
    ]


def _engines(found: Analytics) -> list[tuple[object, ...]]:
    return [
        (
            one.engine,
            one.kind,
            one.changes,
            f"{one.percent} % ({one.first_try})",
            one.sessions,
            dollars(one.usd) if one.usd else "",
        )
        for one in found.engines
    ]


_NUMBER: Final = re.compile("[1-9][0-9]{0,8}")


class Replayed(Struct, frozen=True):
    """One step of a convoy, and what the log folded to there."""

    number: int
    """From 1."""
    last: int
    """How many steps there are."""
    step: LogStep
    state: State
    convoy: Convoy


async def replayed(source: DashboardSource, name: str, wanted: str) -> Replayed:
    """Return a step of a convoy.

    `wanted` counts from 1; anything else means the last one.
    """
    past = source.past
    try:
        steps = await asyncio.to_thread(past.steps, name) if past else ()
        if past is None or not steps:
            raise web.HTTPNotFound(text=f"The past of {name} is not known here.\n")
        number = min(int(wanted), len(steps)) if _is_number(wanted) else len(steps)
        step = steps[number - 1]
        state = await asyncio.to_thread(past.at, step)
    except BratError as error:
        raise web.HTTPNotFound(text=f"{error}.\n") from error
    return Replayed(number, len(steps), step, state, state.convoys[name])


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def replay_values(one: Replayed) -> Mapping[str, Any]:
    """Return the page's values; nothing in it can be pressed, as it is past."""
    then = one.step.at
    values = page_contents.of_convoy(one.state, one.convoy, then)
    leases = valid_leases(one.state, then)
    now_past = {"interventions": (), "buttons": (), "may_write": False}
    return {
        **values,
        **now_past,
        "replay": one,
        "waits_for": partial(waits_for, leases=leases),
    }
