"""The commands that read the whole log: what happened, and why things stand there.

`brat why` explains a convoy, a task, a pull request, or a task's wait. `brat session
list --all` has the sessions that ended, too.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from rich.table import Table
from rich.text import Text

from bot import wall_clock
from brat.commands.print_views import INDENT, OK
from brat.repository import log_reader
from brat.repository.log_reader import Reader, log_repository
from brat.status.find_task import convoy_named, live_or_named, task_in
from brat.status.status_screen import kept_lines, one_line, plain_table
from brat.terminal.console import out, say, write
from convoy import views
from convoy.model import ids
from convoy.model.state import Convoy, State
from convoy.rules.starting import valid_leases
from convoy.text import clock, did_you_mean, spoken_duration
from convoy.views.history import (
    PastSession,
    attempt_story,
    bot_facts,
    past_sessions,
)
from convoy.views.reasons import convoy_reasons, edge_reasons, pull_reasons, reasons
from grite.errors import BratError

Sessions = Mapping[str, tuple[PastSession, ...]]
"""By their convoys' names."""


def sessions_of_convoy(log: Path, state: State, convoy: str) -> tuple[PastSession, ...]:
    """Return one convoy's sessions in the order in which they began."""
    return sessions_of_convoys(log, state, (convoy,))[convoy]


def sessions_of_convoys(log: Path, state: State, convoys: Iterable[str]) -> Sessions:
    """Return the sessions of some convoys."""
    known = tuple(bot_facts(log_reader.log_entries(log), state.bots))
    return {name: past_sessions(name, known) for name in convoys}


def session_documents(sessions: Sessions) -> list[dict[str, Any]]:
    """Return what `--json` says of them, the oldest of each convoy first."""
    return [
        {
            "name": ids.session_name(convoy, one.task, one.attempt),
            "engine": one.engine,
            "begun_ms": one.begun,
            "ended_ms": one.ended,
            "how": one.how,
            "why": one.why,
        }
        for convoy, found in sessions.items()
        for one in found
    ]


def past_sessions_table(sessions: Sessions) -> Table:
    """Return them as a table, a row each."""
    shown = plain_table("session", "engine", "began", "took", "how", "why")
    for convoy, found in sessions.items():
        for one in found:
            why = one.why.partition("\n\n")[0]
            shown.add_row(
                ids.session_name(convoy, one.task, one.attempt),
                one.engine,
                clock(one.begun),
                spoken_duration(round(one.took_s)) if one.ended else "",
                one.how,
                Text(one_line(why)),
            )
    return shown


_TASK: Final = re.compile(r"(?:task-)?(\d{1,9})", re.ASCII)
_PULL: Final = re.compile(r"(?:#|pull-)(\d{1,9})", re.ASCII)
_EDGE: Final = re.compile(r"(?:task-)?(\d{1,9})->(?:task-)?(\d{1,9})", re.ASCII)


class Explained(Struct, frozen=True, kw_only=True):
    """The subject of the question, and the reasons in order."""

    convoy: str
    task: int = 0
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
        return Explained(
            convoy=whose.name,
            task=then.number,
            about=f"{whose.name}, task {then.number} after task {first.number}",
            state=then.state,
            reasons=edge_reasons(whose, first, then),
        )
    if found := _TASK.fullmatch(asked):
        return _of_task(state, live_or_named(state, convoy), int(found[1]), now)
    if asked in state.convoys:
        return _of_convoy(state, state.convoys[asked], now)
    raise BratError(
        f"{asked!r} cannot be explained: give a task (3), a pull request (pull-12), "
        f"one task's wait for another ('1->3') or a convoy{_nearest(asked, state)}"
    )


def _nearest(asked: str, state: State) -> str:
    return did_you_mean(asked, state.convoys) or "'s name"


def _of_convoy(state: State, convoy: Convoy, now: int) -> Explained:
    return Explained(
        convoy=convoy.name,
        about=f"{convoy.name}: {convoy.title}",
        state=convoy.state,
        reasons=convoy_reasons(convoy, valid_leases(state, now)),
    )


def _of_task(state: State, convoy: Convoy, number: int, now: int) -> Explained:
    task = task_in(convoy, number)
    return Explained(
        convoy=convoy.name,
        task=number,
        about=f"{convoy.name}, task {number}: {task.spec.title}",
        state=task.state,
        reasons=reasons(state, convoy, task, now),
    )


def _of_pull(state: State, pull: int, now: int) -> Explained:
    for convoy in reversed(state.convoys.values()):
        for task in convoy.tasks:
            if task.pull == pull:
                return _of_task(state, convoy, task.number, now)
        if convoy.pull == pull:
            return Explained(
                convoy=convoy.name,
                about=f"{convoy.name}, pull request #{pull}",
                state=convoy.state,
                reasons=pull_reasons(convoy),
            )
    raise BratError(f"pull request #{pull} belongs to no convoy")


def why(path: Path, asked: str, convoy: str | None, *, as_json: bool) -> int:
    """Print why a convoy, a task, a pull request or a wait is as it is, in order."""
    log = log_repository(path)
    state = Reader(log).read()
    found = explained(state, asked, convoy, wall_clock())
    if found.task:
        began = sessions_of_convoy(log, state, found.convoy)
        found = replace(found, story=attempt_story(began, found.task))
    if as_json:
        _write({"asked": asked} | msgspec.to_builtins(found))
        return OK
    write(one_line(found.about))
    for reason in (*found.reasons, *found.story):
        write(f"- {kept_lines(reason, INDENT)}")
    return OK


def all_sessions(path: Path, convoy: str | None, *, as_json: bool) -> int:
    """Print every session of a convoy, or of all, the oldest first."""
    log = log_repository(path)
    state = Reader(log).read()
    names = tuple(state.convoys) if convoy is None else (convoy,)
    for name in names:
        convoy_named(state, name)
    found = sessions_of_convoys(log, state, names)
    if as_json:
        _write({"sessions": session_documents(found)})
    elif any(found.values()):
        out.print(past_sessions_table(found))
    else:
        say("no sessions")
    return OK


def _write(told: dict[str, Any]) -> None:
    whole = {"schema_version": views.SCHEMA_VERSION} | told
    write(msgspec.json.format(msgspec.json.encode(whole), indent=2).decode())
