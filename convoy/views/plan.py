"""A convoy's plan as people sign it: the one view that every surface renders. Pure.

The comment, the command line, the dashboard and `--json` show this document; none of
them works anything out by itself. Its texts may come from strangers.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from convoy.gate import forbidden, protected
from convoy.model.records import Forecast, Spread, TaskSpec
from convoy.model.session_result import dollars
from convoy.model.state import Convoy, Task
from convoy.planner import own_words
from convoy.rules.plans import named_paths
from convoy.text import counted, shortened

NO_FORECAST: Final = "nothing known yet"
_MINUTE: Final = 60
_HOUR: Final = 3600


class Range(Struct, frozen=True, kw_only=True):
    """What all tasks of a plan may take, each from the least to the most seen."""

    seconds: Spread
    """Of all sessions, one after another."""
    chain_s: float
    """The middle of the longest chain of tasks that wait for each other."""
    usd: Spread | None
    """Null: no price is known of some task."""


def whole_plan(
    tasks: Mapping[int, tuple[Forecast | None, tuple[int, ...]]],
) -> Range | None:
    """Return what a plan may take; None: of some task nothing is known.

    `tasks` has the forecast of each task and which it waits for.
    """
    known = [forecast for forecast, _ in tasks.values() if forecast is not None]
    if not tasks or len(known) < len(tasks):
        return None

    @cache
    def ends(number: int) -> float:
        forecast, on = tasks[number]
        middle = forecast.seconds.middle if forecast else 0
        return middle + max((ends(each) for each in on if each in tasks), default=0)

    prices = [each.usd for each in known if each.usd is not None]
    return Range(
        seconds=_sum([each.seconds for each in known]),
        chain_s=max(map(ends, tasks)),
        usd=_sum(prices) if len(prices) == len(known) else None,
    )


def _sum(spreads: Sequence[Spread]) -> Spread:
    return Spread(
        sum(each.low for each in spreads),
        sum(each.middle for each in spreads),
        sum(each.high for each in spreads),
    )


def forecast_words(forecast: Forecast | None) -> str:
    """Return what a task may take, in a few words."""
    if forecast is None:
        return NO_FORECAST
    rests = f"by {counted(forecast.tasks, 'earlier task')} of its engine"
    return f"{_time(forecast.seconds)}, {_price(forecast.usd)}, {rests}"


def range_words(found: Range | None) -> str:
    """Return what a whole plan may take, in a few words."""
    if found is None:
        return NO_FORECAST
    chain = f"{span(found.chain_s)} for the longest chain"
    return f"sessions of {_time(found.seconds)}, {chain}, {_price(found.usd)}"


def span(seconds: float) -> str:
    """Return a length of time in one or two units."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    return f"{seconds / _HOUR:.1f} h"


def _time(found: Spread) -> str:
    return f"about {span(found.middle)} ({span(found.low)} to {span(found.high)})"


def _price(usd: Spread | None) -> str:
    if usd is None:
        return "price not known"
    return f"{dollars(usd.middle)} ({dollars(usd.low)} to {dollars(usd.high)})"


DOES_CHARS: Final = 400


class PlanWait(Struct, frozen=True, kw_only=True):
    """One task that a task waits for, and why."""

    on: int
    why: str


class PlanTask(Struct, frozen=True, kw_only=True):
    """One task of a plan, as people judge it."""

    number: int
    title: str
    does: str
    """What is to be done beyond the title; empty: nothing more was written."""
    kind: str
    state: str
    paths: tuple[str, ...]
    """What it changes; empty with `creates`: not declared."""
    creates: tuple[str, ...]
    """What it makes."""
    engine: str
    why: str
    """Why it is a task of its own, and why this engine; empty: nobody said."""
    waits: tuple[PlanWait, ...]
    acceptance: str
    """The command that shows that it is done; empty: none, CI alone judges."""
    protected: tuple[str, ...]
    """The protected paths that it declares or names."""
    protected_by: str
    """Who may let it change them, and how; empty: there are none."""
    forecast: Forecast | None
    """What tasks of its engine took; null: nothing is known yet."""


class PlanDocument(Struct, frozen=True, kw_only=True):
    """A whole plan."""

    planner: str
    tasks: tuple[PlanTask, ...]
    """Without those that were dropped."""
    total: Range | None
    """What all of it may take; null: nothing is known yet of some engine."""
    changes: tuple[str, ...]
    """The tasks that are new, gone or another since it was made, or last approved."""
    approval: str
    """Who has to approve it, and how; empty: nobody has to."""

    @property
    def protected(self) -> tuple[PlanTask, ...]:
        """The tasks that need protected paths."""
        return tuple(task for task in self.tasks if task.protected)


def plan_document(convoy: Convoy) -> PlanDocument:
    """Return a convoy's plan; before there is one, only what approval it will need."""
    tasks = tuple(_tasks(convoy))
    return PlanDocument(
        planner=convoy.planner,
        tasks=tasks,
        total=whole_plan(
            {t.number: (t.forecast, tuple(w.on for w in t.waits)) for t in tasks}
        ),
        changes=title_changes(convoy.titles, convoy.titles_now) if convoy.tasks else (),
        approval=approval(convoy),
    )


def approval(convoy: Convoy) -> str:
    """Return what approval a plan needs before anything starts, and how it is given."""
    if not convoy.waits_for_approval or convoy.state != "planning":
        return ""
    if convoy.settings.staged:
        return ""  # the preview of the steps says how it goes on
    return (
        "somebody who may write has to approve the plan: `/brat approve` here, or "
        f"`brat convoy approve {convoy.name}`; nothing starts before"
    )


def _tasks(convoy: Convoy) -> Iterator[PlanTask]:
    made = {scope.task: scope.creates for scope in convoy.scopes}
    forecasts = {each.engine: each for each in convoy.forecasts}
    for task in convoy.tasks:
        if task.state == "dropped":
            continue
        spec, creates = task.spec, made.get(task.number, ())
        paths = protected(named_paths(spec), convoy.settings.gate)
        # What its instructions add to its title, in one line.
        told = " ".join(own_words(spec).split())
        does = told.removeprefix(spec.title.rstrip("…")).strip(" .:;-")
        yield PlanTask(
            number=spec.number,
            title=spec.title,
            does=shortened(does, DOES_CHARS),
            kind=spec.kind,
            state=task.state,
            paths=tuple(path for path in spec.paths if path not in creates),
            creates=creates,
            engine=spec.engine,
            why=spec.why,
            waits=tuple(PlanWait(on=n, why=because(spec, n)) for n in spec.after),
            acceptance=spec.acceptance,
            protected=paths,
            protected_by=_allowed_by(task, paths),
            forecast=forecasts.get(spec.engine),
        )


def _allowed_by(task: Task, paths: tuple[str, ...]) -> str:
    """Return who may let a task change protected paths."""
    if not paths:
        return ""
    if forbidden(paths):
        return "nobody may let an agent change them: a person has to"
    if set(paths) <= set(task.allowed):
        return "allowed"
    return f"somebody who may write has to allow it: /brat allow {task.number}"


def because(task: TaskSpec, on: int) -> str:
    """Return why a task waits for another one that it is to wait for."""
    why = (wait.why for wait in task.waits if wait.on == on)
    return next(why, "the plan says so")


def edge_words(task: TaskSpec) -> tuple[str, ...]:
    """Return for each task that this one comes after why it does."""
    return tuple(
        f"it comes after task {number}: {because(task, number)}"
        for number in task.after
    )


def title_changes(
    before: Mapping[int, str], after: Mapping[int, str]
) -> tuple[str, ...]:
    """Return the tasks that are new, gone or have another title, by their numbers."""
    told: list[str] = []
    for number in sorted({*before, *after}):
        was, now = before.get(number), after.get(number)
        if was is None:
            told.append(f"+ task {number}: {now}")
        elif now is None:
            told.append(f"- task {number}: {was}")
        elif was != now:
            told.append(f"~ task {number}: {now}")
    return tuple(told)
