"""The pages: state in, HTML out.

Lists have all their entries here; a page shows only part of them. Agents at work are
told with what each printed last, attempts with outcome, cost and walls.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from msgspec import Struct

from bot.dashboard import drawings
from bot.dashboard.access_policy import RepositoryView, Visitor
from bot.dashboard.dashboard_source import DashboardSource, Session, newest_session
from bot.requests import verb_table
from bot.requests.verb import Verb
from convoy.model import ids
from convoy.model.session_result import dollars, estimate_words, tokens, usage_in_words
from convoy.model.state import Convoy, State, Task
from convoy.rules.verdict import Checks
from convoy.text import ago, clean, clock, iso, rough
from convoy.text.project_tests import compiler_errors, failing_tests
from convoy.views import left_words, progress_words, saved_s, worked_s
from convoy.views.history import (
    LINE_KINDS,
    LogLine,
    PastSession,
    PersonDecision,
)
from convoy.views.interventions import Intervention, needs_a_person
from convoy.views.plan import approval, plan_document
from convoy.views.reasons import check_marks, merge_train, reasons, waits_for

_FOLDER: Final = Path(__file__).with_name("static")


_FILES: Final = {each.name: each.read_bytes() for each in _FOLDER.iterdir()}
ADDRESSES: Final = {
    name: f"/static/{blake2b(content, digest_size=6).hexdigest()}/{name}"
    for name, content in _FILES.items()
}
FILE_AT: Final = {address: (name, _FILES[name]) for name, address in ADDRESSES.items()}
"""Each file's name and content by its address, which changes with the content."""


def static_text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


async def agents_at_work(
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
        said = clean(source.output(newest_session(convoy, task, brief=brief)))
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
TIMELINE: Final = 50
"""Tasks over time on a convoy's page, chosen alike; its list has them all."""

_pages: Final = Environment(
    loader=PackageLoader("bot.dashboard", "templates"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_pages.filters |= {
    one.__name__: one for one in (clock, iso, ago, rough, dollars, tokens, zip)
}
_pages.filters["usage"] = usage_in_words
_pages.globals["static"] = ADDRESSES.__getitem__
_pages.globals["task_buttons"] = verb_table.task_buttons
_pages.globals["state_parts"] = drawings.state_parts
_pages.globals["held_up"] = drawings.held_up
_pages.globals["progress_words"] = progress_words
_pages.globals["task_verbs"] = verb_table.BY_TASK_WORD
_pages.globals["convoy_verbs"] = verb_table.BY_CONVOY_WORD


def page(
    name: str,
    view: RepositoryView,
    visitor: Visitor,
    **given: Any,  # noqa: ANN401  a page's own values
) -> str:
    """Return a page as HTML, which loads itself again from `path` on news."""
    values = {
        "source": view.source,
        "now": view.now,
        "trouble": view.watcher.trouble,
        "visitor": visitor,
        "needs": sum(1 for each in view.waits if each.kind != "issue_next"),
        "at_work": sum(1 for _ in view.state.running()),
        "convoys_by_name": view.state.convoys,
        "waits_for": partial(waits_for, at=view.moment),
        "may_write": visitor.may_write and view.source.carry_out is not None,
    }
    return _pages.get_template(f"{name}.html").render(values | given)


def index(repositories: Sequence[str], visitor: Visitor) -> str:
    return _pages.get_template("index.html").render(
        repositories=repositories, visitor=visitor
    )


_INKS: Final = ("", "red", "green", "yellow", "blue", "magenta", "cyan", "", "", "")
_LOOKS: Final = {
    code: (what, name)
    for what, names in (
        ("weight", {"1": "bold", "2": "dim", "22": ""}),
        ("slope", {"3": "italic", "23": ""}),
        ("line", {"4": "underline", "24": ""}),
        ("way", {"7": "inverse", "27": ""}),
        ("ink", {f"{ten}{n}": ink for ten in "39" for n, ink in enumerate(_INKS)}),
    )
    for code, name in names.items()
}
"""What a terminal's codes set, and the class for it. Others change nothing.
https://ecma-international.org/publications-and-standards/standards/ecma-48/
"""
_CODES: Final = re.compile(r"\x1b\[([0-9;]*)m")
_WIDE: Final = re.compile(r"(?<!\d)[34]8;(?:5;\d+|2(?:;\d+){3})")
"""A colour out of 256, or of red, green and blue."""


def _restyled(looks: Mapping[str, str], codes: str) -> dict[str, str]:
    found = {**looks}
    for code in _WIDE.sub("wide", codes).split(";"):
        if not code.strip("0"):
            found = {}
        elif known := _LOOKS.get(code.lstrip("0")):
            found[known[0]] = known[1]
    return found


class PrintedLine(Struct, frozen=True):
    number: int
    text: str
    parts: tuple[tuple[str, str], ...]
    """The text in parts, each with the classes of its looks."""
    is_bad: bool


@lru_cache(maxsize=16)
def printed_lines(text: str) -> tuple[PrintedLine, ...]:
    """Return the lines of a log; its text is clean, but for a terminal's colours."""
    plain = clean(text)
    marks = {*failing_tests(plain), *compiler_errors(plain)}
    looks: dict[str, str] = {}
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = []
        for at, part in enumerate(_CODES.split(line)):
            if at % 2:
                looks = _restyled(looks, part)
            elif part:
                parts.append((" ".join(filter(None, looks.values())), part))
        whole = "".join(part for _, part in parts)
        is_bad = any(mark in whole for mark in marks)
        found.append(PrintedLine(number, whole, tuple(parts), is_bad))
    return tuple(found)


_pages.filters["lines"] = printed_lines
_PRINTED: Final = _pages.from_string(
    '{% from "printed.html" import lines %}{{ lines(text, at) }}'
)


def printed(text: str, at: str) -> str:
    return _PRINTED.render(text=text, at=at)


def fault(status: int, phrase: str, said: str) -> str:
    return _pages.get_template("fault.html").render(
        status=status, phrase=phrase, said=said
    )


SWAPS: Final = "HX-Request"
"""The header of a page's own request, whose answer becomes a part of the page."""
_TOAST: Final = _pages.from_string(
    '{% from "parts.html" import toast %}{{ toast(said, refused, verb) }}'
)


def toast(said: str, verb: Verb | None = None) -> str:
    """Return what a verb did; None: why it was refused."""
    return _TOAST.render(said=said, refused=verb is None, verb=verb)


def overview(
    view: RepositoryView,
    clocks: Sequence[tuple[Convoy, tuple[PastSession, ...]]] = (),
    agents: Sequence[tuple[Convoy, Task, str]] = (),
) -> Mapping[str, Any]:
    state, waits, seen = view.state, view.waits, view.source.checks()
    live, shown = [*state.live()], {convoy.name for convoy, _ in clocks}
    rows = ROWS[len(clocks) > 1]
    others = [each for each in newest_first(state) if each.name not in shown]
    return {
        "headline": drawings.headline(live, waits, view.watcher.trouble),
        "live": live,
        "tasks": sum(len(convoy.tasks) for convoy in live),
        "merged": sum(t.state == "merged" for convoy in live for t in convoy.tasks),
        "usd": sum(convoy.used.usd for convoy in live),
        "clocks": [_shown(*each, view.now, seen, rows, waits) for each in clocks],
        "interventions": waits[:URGENT],
        "waiting": len(waits),
        "convoys": others[:HEAD],
        "convoy_count": len(state.convoys),
        "agents": agents,
        "saved_s": sum(map(saved_s, state.convoys.values())),
    }


def _shown(
    convoy: Convoy,
    sessions: tuple[PastSession, ...],
    now: int,
    seen: Mapping[str, Checks],
    rows: int,
    waits: Iterable[Intervention],
) -> Mapping[str, Any]:
    train = merge_train(convoy, seen)
    return {
        "convoy": convoy,
        "said": progress_words(convoy, now),
        "left": left_words(convoy, now),
        "needy": needs_a_person(waits, convoy.name),
        "gantt": (
            drawings.draw_gantt(convoy, sessions, now, rows) if sessions else None
        ),
        "train": train[: HEAD if rows == ROWS[0] else 2],
        "queued": len(train),
    }


LOOKS: Final = ("timeline", "list", "graph", "plan")


def of_convoy(
    view: RepositoryView,
    convoy: Convoy,
    sessions: tuple[PastSession, ...],
    decisions: Sequence[PersonDecision],
    wanted: str,
) -> Mapping[str, Any]:
    """Return the values of a convoy's page; the newest decision is the first."""
    now = view.now
    asked = approval(convoy)
    hidden = {"timeline": not sessions, "plan": bool(asked) or not convoy.tasks}
    looks = [name for name in LOOKS if not hidden.get(name)]
    look = wanted if wanted in looks else looks[0]
    return {
        "convoy": convoy,
        "base": ids.base_branch(convoy.name),
        "looks": looks,
        "look": look,
        "drawing": drawings.draw_graph(convoy) if look == "graph" else None,
        "gantt": (
            drawings.draw_gantt(convoy, sessions, now, TIMELINE)
            if look == "timeline"
            else None
        ),
        "estimate": estimate_words(convoy.estimate),
        "said": progress_words(convoy, now),
        "approval": asked,
        "plan": plan_document(convoy) if asked or look == "plan" else None,
        "train": merge_train(convoy, view.source.checks()),
        "decisions": decisions,
        "buttons": verb_table.convoy_buttons(convoy),
        "interventions": [each for each in view.waits if each.convoy == convoy.name],
        "worked_s": worked_s(convoy),
        "saved_s": saved_s(convoy),
        "used": usage_in_words(convoy.used),
    }


def of_task(
    view: RepositoryView, convoy: Convoy, task: Task, output: str
) -> Mapping[str, Any]:
    """Return the values of a task's page; `output` is what a session of it printed."""
    checks = view.source.checks().get(task.candidate.commit) if task.candidate else None
    return {
        "convoy": convoy,
        "task": task,
        "branch": ids.task_branch(convoy.name, task.number),
        "reasons": reasons(view.state, convoy, task, view.now),
        "run": task.newest_run,
        "used": usage_in_words(task.used),
        "output": output,
        "failing": [line for line in printed_lines(output) if line.is_bad],
        "checks": check_marks(checks) if checks else (),
    }


STATES: Final = ("queued", "running", "blocked", "needs-review", "merged", "dropped")

Rows = tuple[Sequence[Any], Mapping[str, Any]]


def newest_first(state: State) -> list[Convoy]:
    """Return all convoys: those that have not ended first, then the newest."""
    newest = state.convoys.newest_first()
    return sorted(newest, key=lambda convoy: convoy.ended)


def all_tasks(state: State) -> Iterable[tuple[Convoy, Task]]:
    for convoy in state.convoys.newest_first():
        for task in convoy.tasks:
            yield convoy, task


def task_rows(state: State, wanted: str, convoy: str) -> Rows:
    found = [
        each
        for each in all_tasks(state)
        if wanted in ("", each[1].state) and convoy in ("", each[0].name)
    ]
    names = [one.name for one in newest_first(state)]
    return found, {
        "states": STATES,
        "wanted": wanted,
        "convoys": names,
        "chosen": convoy,
    }


INTERNAL: Final = ("forge", "locks")
"""Kinds of lines that are shown only to who asks for them."""
KINDS: Final = ("", *dict.fromkeys(LINE_KINDS.values()), "all")
LINE_FILTERS: Final = ("convoy", "kind", "task", "by", "words")


def line_rows(
    state: State, known: Sequence[LogLine], wanted: Mapping[str, str]
) -> Rows:
    """Return the matching lines, the newest first; `known` has the oldest first."""
    kind, words = wanted["kind"], wanted["words"].lower().split()
    found = [
        line
        for line in reversed(known)
        if wanted["convoy"] in ("", line.convoy)
        and wanted["task"] in ("", str(line.task))
        and wanted["by"].lower() in line.by.lower()
        and (kind in ("all", line.kind) or (not kind and line.kind not in INTERNAL))
        and holds_words(line.text, words)
    ]
    names = [convoy.name for convoy in newest_first(state)]
    return found, {"convoys": names, "kinds": KINDS, "wanted": wanted}


def holds_words(text: str, wanted: Iterable[str]) -> bool:
    low = text.lower()
    return all(word in low for word in wanted)


MOST_FOUND: Final = 30
"""Of each kind of thing a search shows so many at most."""


def search_values(
    view: RepositoryView, known: Sequence[LogLine], words: str
) -> Mapping[str, Any]:
    """Return what holds all of the words; `known` has the oldest line first."""
    wanted = words.lower().split()

    def fits(*texts: str) -> bool:
        return bool(wanted) and holds_words(" ".join(texts), wanted)

    convoys = (
        one for one in newest_first(view.state) if fits(one.name, one.title, one.text)
    )
    tasks = (
        (convoy, task)
        for convoy, task in all_tasks(view.state)
        if fits(
            f"{convoy.name} task {task.number}",
            *(task.spec.title, task.spec.instructions, task.spec.engine, task.why),
            *task.spec.paths,
            *task.touched,
        )
    )
    lines = (line for line in reversed(known) if fits(line.convoy, line.text))
    return {
        "words": words,
        "convoys": tuple(islice(convoys, MOST_FOUND)),
        "tasks": tuple(islice(tasks, MOST_FOUND)),
        "interventions": tuple(one for one in view.waits if fits(one.convoy, one.why))[
            :MOST_FOUND
        ],
        "lines": tuple(islice(lines, MOST_FOUND)),
    }


def session_of(convoy: str, one: PastSession) -> Session:
    name = ids.session_name(convoy, one.task, one.attempt)
    return Session(name=name, run=one.run, running=not one.ended)
