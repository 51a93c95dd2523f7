"""The read-only commands: they read refs, print a view, and need no bot.

`brat why` explains a convoy, a task, a pull request, or a task's wait.
"""

import re
from functools import partial
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.text import Text

from bot import wall_clock
from brat.repository import log_reader
from brat.repository.checkout import served_here
from brat.repository.log_reader import Reader, log_entries, log_repository
from brat.status import status_screen
from brat.status.find_task import convoy_named, live_or_named, task_in
from brat.status.local_attention import here, stands_still
from brat.terminal import live_screen
from brat.terminal.console import from_here, out, say, write
from brat.terminal.live_screen import View
from convoy import views
from convoy.model import ids
from convoy.model.session_result import usage_in_words
from convoy.model.state import Convoy, State, Task
from convoy.rules.starting import moment
from convoy.text import clock, counted, did_you_mean, spoken_duration
from convoy.views.history import attempt_story, bot_facts, past_sessions
from convoy.views.interventions import (
    Intervention,
    advice,
    alike,
    interventions,
    needs_a_person,
)
from convoy.views.reasons import convoy_reasons, edge_reasons, pull_reasons, reasons
from grite.errors import BratError

OK: Final = 0
BLOCKED: Final = 1
ENDED_SHOWN: Final = 5
"""How many of the newest ended convoys are still shown to people."""
Waits = tuple[Intervention, ...]
NOTHING_YET: Final = 'no convoy yet; next: brat run "what to do"'


def status(repo: Path, convoy: str | None, *, as_json: bool, watch: bool) -> int:
    """Print every convoy, or one; return 1 while something waits for a person.

    People see the live convoys and the last few that ended; programs get all convoys.
    """
    reader = Reader(log_repository(repo))

    def seen() -> View:
        state, _, found = _looked(reader, repo)
        return watched(state, convoy, found)

    if watch:
        live_screen.watch(seen, status_screen.WAITS, "brat status")
    state, local, found = _looked(reader, repo)
    shown = _shown(state, convoy)
    if watch:
        pass  # the person has seen enough
    elif as_json:
        whole = views.state_document(state, wall_clock(), reader.faults, local)
        names = {each.name for each in shown}
        whole["convoys"] = [each for each in whole["convoys"] if each["name"] in names]
        status_screen.print_document(whole)
    else:
        if (screen := looked(state, convoy, found)) != NOTHING_YET:
            out.print(screen)
        if not shown and not any(each.issue for each in local):
            say(NOTHING_YET)
        if stands_still(repo, state):
            say("nothing moves here until you run: brat up")
    return BLOCKED if needs_a_person(found, convoy) else OK


def convoy(repo: Path, name: str, *, as_json: bool) -> int:
    """Print one convoy with its plan; return 1 while it waits for a person."""
    reader = Reader(log_repository(repo))
    state, local, found = _looked(reader, repo)
    one = convoy_named(state, name)
    if as_json:
        whole = views.state_document(state, wall_clock(), reader.faults, local)
        at = moment(state, wall_clock())
        status_screen.print_document(
            whole | {"convoys": [views.planned_document(one, at)]}
        )
    else:
        out.print(looked(state, name, found, whole=True))
        out.print(status_screen.plan_screen(one), soft_wrap=True)
    return BLOCKED if needs_a_person(found, name) else OK


def _looked(reader: Reader, repo: Path) -> tuple[State, Waits, Waits]:
    """Return the state, what waits on this machine alone, and all that waits."""
    state = reader.read()
    local = here(repo, state)
    return state, local, (*local, *interventions(state, wall_clock(), reader.faults))


def looked(
    state: State, convoy: str | None, found: Waits, *, whole: bool = False
) -> RenderableType:
    """Return what people see of a repository: live convoys and the last that ended.

    `whole` keeps the line breaks of reasons.
    """
    newer, older, following, mine = _seen(state, convoy, found)
    lines = [
        line
        for each in alike(mine)
        for line in status_screen.intervention_lines(*each, whole=whole)
    ]
    waits = [Text(status_screen.WAITS), *lines] if mine else []
    parts = status_screen.parts_of(newer, state, wall_clock())
    seen = (*following, *waits, *parts)
    return Group(*seen, *older) if seen else NOTHING_YET


def watched(state: State, convoy: str | None, found: Waits) -> View:
    """Return the same for a screen that stays, with the waits on top."""
    newer, older, following, mine = _seen(state, convoy, found)
    if not (newer or mine):
        return View(rest=NOTHING_YET)
    parts = status_screen.parts_of(newer, state, wall_clock())
    pinned = (Group(*status_screen.intervention_lines(*each)) for each in alike(mine))
    return View(rest=Group(*following, *parts, *older), pinned=tuple(pinned))


def _seen(
    state: State, convoy: str | None, found: Waits
) -> tuple[tuple[Convoy, ...], tuple[Text, ...], tuple[Text, ...], Waits]:
    """Return the convoys to show whole, and lines on the others and on what is next.

    The last are the waits for a person, in these convoys and in none.
    """
    shown = _shown(state, convoy)
    ended = [each for each in shown if each.ended]
    older = {each.name for each in ended[:-ENDED_SHOWN]}
    newer = tuple(each for each in shown if each.name not in older)
    more = f"{counted(len(older), 'older convoy')} not shown; see: brat convoy list"
    names = {"", *(each.name for each in newer)}
    waits = [each for each in found if each.convoy in names]
    return (
        newer,
        (Text(more, style="dim"),) if older else (),
        tuple(
            Text(f"next: {status_screen.one_line(each.why)}")
            for each in waits
            if each.kind == status_screen.NEXT
        ),
        tuple(each for each in waits if each.kind != status_screen.NEXT),
    )


def _shown(state: State, convoy: str | None) -> tuple[Convoy, ...]:
    if convoy is not None:
        return (convoy_named(state, convoy),)
    return tuple(state.convoys.values())


def task(repo: Path, number: int, convoy: str | None, *, as_json: bool) -> None:
    state = Reader(log_repository(repo)).read()
    found = live_or_named(state, convoy)
    at = moment(state, wall_clock())
    told = views.task_document(found, task_in(found, number), at)
    if as_json:
        status_screen.print_document({"task": told})
        return
    told["usage"] = usage_in_words(task_in(found, number).used)
    for key, value in told.items():
        label = key.replace("_", " ")
        values = value if isinstance(value, list) else [value]
        worded = ", ".join(str(each) for each in values if each is not None)
        write(f"{label:14} {status_screen.kept_lines(worded)}")


def cost(repo: Path, convoy: str | None, *, as_json: bool) -> None:
    shown = _shown(Reader(log_repository(repo)).read(), convoy)
    rows = status_screen.cost_rows(shown)
    drawn = partial(status_screen.cost_table, shown)
    status_screen.print_rows("convoys", rows, drawn, as_json=as_json, none=NOTHING_YET)


def convoys(repo: Path, *, as_json: bool) -> None:
    state = Reader(log_repository(repo)).read()
    rows = views.convoys(state, wall_clock())
    drawn = partial(status_screen.convoys_table, state)
    status_screen.print_rows("convoys", rows, drawn, as_json=as_json)


def sessions(
    repo: Path, convoy: str | None, *, every: bool, watch: bool, as_json: bool
) -> None:
    """Print the running sessions, or with `every` all of a convoy or of all convoys."""
    if watch and (every or as_json):
        raise click.UsageError("--watch cannot be combined with --all or --json")
    if convoy is not None and not every:
        raise click.UsageError("--convoy requires --all")
    if every:
        _all_sessions(repo, convoy, as_json=as_json)
        return
    printed, reader = _last_lines(repo), Reader(log_repository(repo))

    def drawn() -> RenderableType:
        return status_screen.sessions_table(reader.read(), wall_clock(), printed)

    if watch:
        live_screen.watch(lambda: View(drawn()), "running agents", "brat session list")
    else:
        rows = views.sessions(reader.read())
        status_screen.print_rows("sessions", rows, drawn, as_json=as_json)


def _last_lines(path: Path) -> status_screen.LastLine:
    """Return what tells the last line of a session whose output is on this machine."""
    from brat.status.session_views import output_of  # slow to load

    if (checkout := served_here(path)) is None:
        return lambda _convoy, _task: ""

    def last_line(convoy: Convoy, task: Task) -> str:
        said = output_of(checkout.folder, convoy, task).last(running=True)
        return next((line for line in reversed(said.splitlines()) if line.strip()), "")

    return last_line


def _all_sessions(repo: Path, convoy: str | None, *, as_json: bool) -> None:
    """Print every session of a convoy, or of all, the oldest of each first."""
    log = log_repository(repo)
    state = Reader(log).read()
    names = tuple(state.convoys) if convoy is None else (convoy,)
    for name in names:
        convoy_named(state, name)
    facts = tuple(bot_facts(log_entries(log), state.bots))
    found = [
        (ids.session_name(name, one.task, one.attempt), one)
        for name in names
        for one in past_sessions(name, facts)
    ]
    rows = [
        {
            "name": name,
            "engine": one.engine,
            "begun_ms": one.begun,
            "ended_ms": one.ended,
            "how": one.how,
            "why": one.why,
        }
        for name, one in found
    ]

    def drawn() -> RenderableType:
        columns = ("session", "engine", "began", "took", "how", "why")
        table = status_screen.plain_table(*columns)
        for name, one in found:
            table.add_row(
                name,
                one.engine,
                clock(one.begun),
                spoken_duration(round(one.took_s)) if one.ended else "",
                one.how,
                Text(status_screen.one_line(one.why)),
            )
        return table

    status_screen.print_rows("sessions", rows, drawn, as_json=as_json)


def queue(repo: Path, *, as_json: bool) -> None:
    state = Reader(log_repository(repo)).read()
    drawn = partial(status_screen.queue_table, state)
    rows = views.queue(state)
    status_screen.print_rows("queue", rows, drawn, as_json=as_json, none=_NO_QUEUE)


_NO_QUEUE: Final = "nothing is waiting to be merged"
_TASK: Final = re.compile(r"(?:task-)?(\d{1,9})", re.ASCII)
_PULL: Final = re.compile(r"(?:#|pull-)(\d{1,9})", re.ASCII)
_EDGE: Final = re.compile(r"(?:task-)?(\d{1,9})->(?:task-)?(\d{1,9})", re.ASCII)


class Explained(Struct, frozen=True):
    convoy: str
    task: int
    """The task's number; 0: the subject is not a single task."""
    about: str
    """The subject in words for people."""
    state: str
    reasons: tuple[str, ...]
    story: tuple[str, ...] = ()
    """What each attempt at the task came to, in order."""


def explained(state: State, asked: str, convoy: str | None, now: int) -> Explained:
    """Return the reasons for the present state of a subject.

    `3` or `task-3`, of the live convoy unless one is named; `#12` or `pull-12`; `1->3`;
    a convoy's name.
    """
    if found := _PULL.fullmatch(asked):
        return _of_pull(state, int(found[1]), now)
    if found := _EDGE.fullmatch(asked):
        whose = live_or_named(state, convoy)
        first, then = (task_in(whose, int(each)) for each in found.groups())
        about = f"{whose.name}, task {then.number} after task {first.number}"
        why = tuple(edge_reasons(whose, first, then))
        return Explained(whose.name, then.number, about, then.state, why)
    if found := _TASK.fullmatch(asked):
        return _of_task(state, live_or_named(state, convoy), int(found[1]), now)
    if (whole := state.convoys.get(asked)) is not None:
        why = tuple(convoy_reasons(whole, moment(state, now)))
        return Explained(asked, 0, f"{asked}: {whole.title}", whole.state, why)
    near = did_you_mean(asked, state.convoys) or "'s name"
    raise BratError(
        f"{asked!r} is unknown: give a task (3), a pull request (pull-12), one task's "
        f"wait for another ('1->3') or a convoy{near}"
    )


def _of_task(state: State, convoy: Convoy, number: int, now: int) -> Explained:
    task = task_in(convoy, number)
    about = f"{convoy.name}, task {number}: {task.spec.title}"
    why = reasons(state, convoy, task, now)
    return Explained(convoy.name, number, about, task.state, why)


def _of_pull(state: State, pull: int, now: int) -> Explained:
    for convoy in state.convoys.newest_first():
        for task in convoy.tasks:
            if task.pull == pull:
                return _of_task(state, convoy, task.number, now)
        if convoy.pull == pull:
            about = f"{convoy.name}, pull request #{pull}"
            why = tuple(pull_reasons(convoy))
            return Explained(convoy.name, 0, about, convoy.shown_state, why)
    raise BratError(f"pull request #{pull} does not belong to a convoy")


def why(repo: Path, about: str | None, convoy: str | None, *, as_json: bool) -> None:
    """Print why a convoy, a task, a pull request or a wait is as it is, in order."""
    log = log_repository(repo)
    state = Reader(log).read()
    about = about or live_or_named(state, convoy).name
    found = explained(state, about, convoy, wall_clock())
    if found.task:
        facts = bot_facts(log_entries(log), state.bots)
        began = past_sessions(found.convoy, facts)
        found = replace(found, story=tuple(attempt_story(began, found.task)))
    if as_json:
        status_screen.print_document({"asked": about} | msgspec.to_builtins(found))
        return
    write(status_screen.one_line(found.about))
    for reason in (*found.reasons, *found.story):
        write(f"- {status_screen.kept_lines(reason)}")
    for each in interventions(state, wall_clock()) if found.task else ():
        if (each.convoy, each.task) == (found.convoy, found.task):
            for line in advice(each):
                write(from_here(line))


def newest(repo: Path, number: int, *, following: bool = False) -> None:
    """Print so many lines of the log; with `following` each new one, without end."""
    log = log_repository(repo)
    for line in log_reader.newest_lines(log, number):
        write(log_reader.shown_line(line))
    if following:
        for text in log_reader.follow_lines(log):
            write(text)


def whole_log(repo: Path, form: str) -> None:
    entries = log_entries(log_repository(repo))
    written = log_reader.as_json if form == "json" else log_reader.as_markdown
    write(written(entries))
