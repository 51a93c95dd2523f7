"""A convoy's plan as people sign it: the one view that every surface renders. Pure.

The comment, the command line, the dashboard and `--json` show this document; none of
them works anything out by itself. Its texts may come from strangers.

Which task does what the issue asks for is told by form alone: list items, paths and
words are compared, nothing is understood, and a sentence may be background. What cannot
be placed is named as left out, so that a person looks. A requirement is a list item, or
a sentence that stands outside of code, quotes, tables and headings.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Final, Literal

from msgspec import Struct

from convoy.gate import forbidden, protected
from convoy.model.records import Forecast, Outline, Spread, TaskSpec, outlined
from convoy.model.session_result import dollars
from convoy.model.state import Convoy, Task
from convoy.planner import (
    Size,
    own_words,
    paths_in,
    size_reason,
    task_points,
    task_size,
)
from convoy.rules.plans import named_paths
from convoy.text import clean, counted, shortened
from grite.resource import overlaps

_Kind = Literal["prose", "item", "met"]

MOST_REQUIREMENTS: Final = 200
"""So many requirements of one issue are looked at."""
SENTENCE_WORDS: Final = 3
"""A sentence with fewer words asks for nothing that could be found again."""
_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?")
_NO_PROSE: Final = re.compile(r"\s*(?:#{1,6}(?:\s|$)|>|\||<|={3,}|-{3,}|\*{3,})")
_ENDS: Final = re.compile(r"(?<=[.!?])\s+(?=[^\s\d])|(?<=[\u3002\uff01\uff1f])\s*")
_HIDDEN: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def requirements(text: str) -> tuple[str, ...]:
    """Return the items and sentences of an issue's text; ticked items are met."""
    found = chain.from_iterable(_blocks(_HIDDEN.sub("", clean(text))))
    return tuple(dict.fromkeys(found))[:MOST_REQUIREMENTS]


def _blocks(text: str) -> Iterator[Iterator[str]]:
    """Give what each item and each paragraph asks for."""
    kind: _Kind = "prose"
    lines: list[str] = []
    in_code = False
    for line in text.split("\n"):
        item = _ITEM.match(line)
        is_fence = bool(_FENCE.match(line))
        is_open = line.strip() and not (is_fence or in_code or _NO_PROSE.match(line))
        in_code ^= is_fence
        if is_open and not item:
            lines.append(line)
            continue
        yield _said(kind, lines)
        kind, lines = "prose", []
        if is_open and item:
            kind = "met" if (item["box"] or " ") != " " else "item"
            lines = [line[item.end() :]]
    yield _said(kind, lines)


def _said(kind: _Kind, lines: list[str]) -> Iterator[str]:
    text = " ".join(" ".join(lines).split())
    if kind == "item" and text:
        yield text
    if kind == "prose":
        for sentence in _ENDS.split(text):
            if len(sentence.split()) >= SENTENCE_WORDS or not sentence.isascii():
                yield from filter(None, (sentence.strip(),))


HOW_COMPARED: Final = (
    "compared by list items, paths and words only: a sentence may be background"
)
ENOUGH_WORDS: Final = 0.5
"""The share of a requirement's words that a task must have."""
_STEM: Final = 5
"""How much of a long word has to agree, so that `tokens` is found as `token`."""
_WORD: Final = re.compile(r"[^\W_]+")
_COMMON_WORDS: Final = (
    "a about after again all also an and any are as at be because been before "
    "both but by can could do does done each for from had has have how i if in "
    "into is it its just make may more most must need needs new no not now of on "
    "one only or other our out please same should so some such than that the "
    "their them then there these they this to too under up use used using was we "
    "were what when where which while who will with would you your "
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())

CoveredBy = Literal["item", "path", "words", "nothing"]


class Covered(Struct, frozen=True, kw_only=True):
    """One requirement, and who does it."""

    text: str
    tasks: tuple[int, ...] = ()
    """Empty: none, as far as can be seen."""
    by: CoveredBy = "nothing"
    """What says so."""


class _Told(Struct, frozen=True):
    """What of a task is compared."""

    number: int
    title: str
    whole: str
    words: frozenset[str]
    paths: tuple[str, ...]


@lru_cache(maxsize=64)  # a comment is made again in every tick
def coverage(text: str, tasks: tuple[TaskSpec, ...]) -> tuple[Covered, ...]:
    """Return each requirement of an issue's text with the tasks that do it.

    The tasks are the plan's, without those that were given up.
    """
    told = [_told(task) for task in tasks]
    return tuple(_covered(each, told) for each in requirements(text))


def _covered(text: str, tasks: list[_Told]) -> Covered:
    said, words, named = _plain(text), _words(text), paths_in(text)
    if found := [t.number for t in tasks if _is_item(said, t)]:
        return Covered(text=text, tasks=tuple(found), by="item")
    if found := [
        t.number
        for t in tasks
        if any(overlaps(f"path:{a}", f"path:{b}") for a in named for b in t.paths)
    ]:
        return Covered(text=text, tasks=tuple(found), by="path")
    shares = {t.number: len(words & t.words) / len(words) for t in tasks if words}
    best = max(shares.values(), default=0.0)
    if best < ENOUGH_WORDS:
        return Covered(text=text)
    found = [number for number, share in shares.items() if share == best]
    return Covered(text=text, tasks=tuple(found), by="words")


def _told(task: TaskSpec) -> _Told:
    own = own_words(task)
    whole = f"{task.title}\n{own}"
    paths = (*task.paths, *paths_in(whole))
    said = f"{whole}\n{task.why}\n{task.acceptance}"
    return _Told(task.number, _plain(task.title), _plain(own), _words(said), paths)


def _is_item(said: str, task: _Told) -> bool:
    """Whether a task is the item, or was told it word for word."""
    if not said:
        return False
    title = task.title.rstrip("… ")
    is_title = bool(title) and (said == title or said.startswith(f"{title} "))
    return is_title or f" {said} " in f" {task.whole} "


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _words(text: str) -> frozenset[str]:
    found = (word for word in _WORD.findall(text.casefold()) if word not in _COMMON)
    return frozenset(word[:_STEM] for word in found)


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
    size: Size
    points: int
    size_reason: str
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
    covered: tuple[Covered, ...]
    """What the issue asks for, with who does it."""
    total: Range | None
    """What all of it may take; null: nothing is known yet of some engine."""
    changes: tuple[str, ...]
    """What changed since it was made, or last approved."""
    approval: str
    """Who has to approve it, and how; empty: nobody has to."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """What of the issue no task does, as far as can be seen."""
        return tuple(each.text for each in self.covered if not each.tasks)

    @property
    def protected(self) -> tuple[PlanTask, ...]:
        """The tasks that need protected paths."""
        return tuple(task for task in self.tasks if task.protected)


def plan_document(convoy: Convoy) -> PlanDocument:
    """Return a convoy's plan; before there is one, only what approval it will need."""
    specs = tuple(t.spec for t in convoy.tasks if t.state != "dropped")
    tasks = tuple(_tasks(convoy))
    return PlanDocument(
        planner=convoy.planner,
        tasks=tasks,
        covered=coverage(convoy.text, specs) if specs else (),
        total=whole_plan(
            {t.number: (t.forecast, tuple(w.on for w in t.waits)) for t in tasks}
        ),
        changes=changed_since(convoy),
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
    scopes = {scope.task: scope for scope in convoy.scopes}
    forecasts = {each.engine: each for each in convoy.forecasts}
    for task in convoy.tasks:
        if task.state == "dropped":
            continue
        spec, scope = task.spec, scopes.get(task.number)
        creates = scope.creates if scope else ()
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
            size=task_size(spec, scope),
            points=task_points(spec, scope),
            size_reason=size_reason(spec, scope),
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


def outline_changes(
    before: Iterable[Outline], after: Iterable[Outline]
) -> tuple[str, ...]:
    """Return the changes from one plan to another, a clause each, by task number."""
    old = {each.number: each for each in before}
    new = {each.number: each for each in after}
    told: list[str] = []
    for number in sorted({*old, *new}):
        was, now = old.get(number), new.get(number)
        if was is None and now is not None:
            waits = f" (after {_numbers(now.after)})" if now.after else ""
            told.append(f"+ task {number}: {now.title}{waits}")
        elif now is None and was is not None:
            told.append(f"- task {number}: {was.title}")
        elif was and now and was != now:
            told.append(f"~ task {number}: {'; '.join(_parts(was, now))}")
    return tuple(told)


def changed_since(convoy: Convoy) -> tuple[str, ...]:
    """Return what changed of a plan since it was made, or last approved."""
    return (
        outline_changes(convoy.outline, current_outline(convoy)) if convoy.tasks else ()
    )


def current_outline(convoy: Convoy) -> tuple[Outline, ...]:
    """Return a convoy's plan as it is now, without what was dropped."""
    return outlined(task.spec for task in convoy.tasks if task.state != "dropped")


def _parts(was: Outline, now: Outline) -> Iterator[str]:
    if was.title != now.title:
        yield f"is now: {now.title}"
    if was.after != now.after:
        yield f"after {_numbers(was.after)} -> {_numbers(now.after)}"
    if was.engine != now.engine:
        yield f"engine {was.engine} -> {now.engine}"
    if was.paths != now.paths:
        gone = [f"- {path}" for path in was.paths if path not in now.paths]
        come = [f"+ {path}" for path in now.paths if path not in was.paths]
        yield f"paths {', '.join((*gone, *come)) or 'in another order'}"
    if was.acceptance != now.acceptance:
        yield f"done when {now.acceptance or 'CI says so'}"


def _numbers(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers)) or "none"
