"""The commands that read the whole log: what happened, and why things stand there."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from bot import wall_clock
from brat.commands.print_views import INDENT, OK
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.status import past_sessions
from brat.status.find_task import convoy_named
from brat.status.status_screen import kept_lines, one_line
from brat.status.why_subject import explained
from brat.terminal.console import out, say, write
from convoy import views
from convoy.views.history import attempt_story


def why(path: Path, asked: str, convoy: str | None, *, as_json: bool) -> int:
    """Print why a convoy, a task, a pull request or a wait is as it is, in order.

    Raises:
        BratError: there is no such thing.
    """
    log = log_repository(path)
    state = Reader(log).read()
    found = explained(state, asked, convoy, wall_clock())
    if found.task:
        began = past_sessions.of_convoy(log, state, found.convoy)
        found = replace(found, story=attempt_story(began, found.task))
    if as_json:
        _write({"asked": asked} | msgspec.to_builtins(found))
        return OK
    write(one_line(found.about))
    for reason in (*found.reasons, *found.story):
        write(f"- {kept_lines(reason, INDENT)}")
    return OK


def all_sessions(path: Path, convoy: str | None, *, as_json: bool) -> int:
    """Print every session of a convoy, or of all, the oldest first.

    Raises:
        BratError: there is no log here, or no such convoy.
    """
    log = log_repository(path)
    state = Reader(log).read()
    names = tuple(state.convoys) if convoy is None else (convoy,)
    for name in names:
        convoy_named(state, name)
    found = past_sessions.of_convoys(log, state, names)
    if as_json:
        _write({"sessions": past_sessions.documents(found)})
    elif any(found.values()):
        out.print(past_sessions.table(found))
    else:
        say("no sessions")
    return OK


def _write(told: dict[str, Any]) -> None:
    whole = {"schema_version": views.SCHEMA_VERSION} | told
    write(msgspec.json.format(msgspec.json.encode(whole), indent=2).decode())
