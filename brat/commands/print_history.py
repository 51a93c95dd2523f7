"""The commands that read the whole log: what happened, and why things stand there.

`brat why` explains a convoy, a task, a pull request, or a task's wait. `brat session
list --all` has the sessions that ended, too. `brat analytics` tells what became of all
changes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bot import wall_clock
from brat.commands.print_views import INDENT, OK, print_document
from brat.repository import log_reader
from brat.repository.log_reader import Reader, log_repository
from brat.status.find_task import convoy_named, live_or_named, task_in
from brat.status.status_screen import kept_lines, one_line, plain_table
from brat.terminal.console import out, say, write
from convoy import views
from convoy.model import ids
from convoy.model.session_result import dollars
from convoy.model.state import Convoy, State
from convoy.rules.starting import valid_leases
from convoy.text import clock, did_you_mean, spoken_duration
from convoy.views import SCHEMA_VERSION
from convoy.views.analytics import (
    Analytics,
    TimeSpread,
    analytics,
    analytics_summary,
    change_rows,
    csv_text,
)
from convoy.views.history import (
    ChangeHistory,
    PastSession,
    attempt_story,
    bot_facts,
    past_sessions,
)
from convoy.views.reasons import convoy_reasons, edge_reasons, pull_reasons, reasons
from grite.errors import BratError

_AGO: Final = re.compile(r"(\d{1,6})\s*([smhdw])(?:\s+ago)?")
_UNITS: Final = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_HOUR: Final = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")


def past_time(text: str, now: int) -> int:
    """Return a time in unix ms.

    `14:30` (today, or yesterday if that is yet to come), a date, a date and time as in
    ISO 8601 (of this machine's zone unless it names one), or how long ago: `90s`,
    `15m`, `2h`, `3d`, `1w`. Raises `ValueError`: it is none of these, or is yet to
    come.
    """
    words = text.strip()
    here = datetime.fromtimestamp(now / 1000).astimezone()
    found = _ago(words, here) or _today(words, here) or _dated(words)
    if found is None:
        raise ValueError(
            f"{text[:40]!r} is no time: write 14:30, 2026-11-24, '2026-11-24 14:30', "
            "or how long ago it was, as in 15m, 2h or 3d"
        )
    if found > here:
        raise ValueError(f"{text[:40]!r} is yet to come")
    return round(found.timestamp() * 1000)


def _ago(words: str, here: datetime) -> datetime | None:
    found = _AGO.fullmatch(words)
    if found is None:
        return None
    try:
        return here - int(found[1]) * _UNITS[found[2]]
    except OverflowError:
        return None


def _today(words: str, here: datetime) -> datetime | None:
    if not _HOUR.fullmatch(words):
        return None
    padded = f"0{words}" if words[1] == ":" else words
    try:
        found = datetime.fromisoformat(f"{here:%Y-%m-%d} {padded}").astimezone()
    except ValueError:
        return None
    return found if found <= here else found - timedelta(days=1)


def _dated(words: str) -> datetime | None:
    try:
        return datetime.fromisoformat(words).astimezone()
    except (ValueError, OverflowError):
        return None


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


def analytics_tables(found: Analytics) -> RenderableType:
    """Return all figures."""
    return Group(*_parts(found))


def _parts(found: Analytics) -> Iterator[RenderableType]:
    yield Text(analytics_summary(found))
    if found.stages:
        yield _spreads("a change was", found.stages)
    if found.engines:
        table = plain_table(
            "engine", "kind", "changes", "first try", "sessions", "cost"
        )
        for one in found.engines:
            share = f"{one.percent} % ({one.first_try})"
            cost = dollars(one.usd) if one.usd else ""
            table.add_row(
                one.engine, one.kind, str(one.changes), share, str(one.sessions), cost
            )
        yield table
    lists = (
        ("went back because of", found.rework),
        ("check was red", found.reds),
        ("check flaked", found.flakes),
    )
    for title, rows in lists:
        if rows:
            table = plain_table(title, "times")
            for name, count in rows:
                table.add_row(Text(name), str(count))
            yield table
    if found.asked:
        yield _spreads("people were asked", found.asked)


def _spreads(title: str, found: dict[str, TimeSpread]) -> RenderableType:
    table = plain_table(title, "times", "half took", "nine of ten took")
    for name, one in found.items():
        half, most = (spoken_duration(round(each)) for each in (one.median, one.most))
        table.add_row(name, str(one.count), f"at most {half}", f"at most {most}")
    return table


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


STDOUT: Final = "-"


def figures(path: Path, since: int, table: str | None, *, as_json: bool) -> int:
    """Print what became of the changes that ended at `since` (unix ms) or later.

    `table` is the file for a row each, as CSV; `-`: standard output.
    """
    log = log_repository(path)
    state = Reader(log).read()
    history = ChangeHistory()
    history.read(bot_facts(log_reader.log_entries(log), state.bots))
    if table is not None:
        _write_table(table, change_rows(history, since))
        return OK
    found = analytics(history, since)
    if as_json:
        print_document({"schema_version": SCHEMA_VERSION, "analytics": told(found)})
    else:
        out.print(analytics_tables(found))
    return OK


def told(found: Analytics) -> dict[str, Any]:
    """Return the figures for programs."""
    whole: dict[str, Any] = msgspec.to_builtins(found)
    return whole


def _write_table(file: str, found: list[dict[str, Any]]) -> None:
    text = csv_text(found)
    if file == STDOUT:
        write(text.rstrip("\n"))
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BratError(f"{file}: {error.strerror}") from error
    say(f"wrote {file}")
