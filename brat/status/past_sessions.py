"""Every session of some convoys, those that ended, too: read from the whole log."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from brat.repository import log_export
from brat.status.list_tables import plain_table
from brat.status.status_screen import one_line
from convoy.model import ids
from convoy.model.state import State
from convoy.text import clock, spoken_duration
from convoy.views.history import PastSession, bot_facts, past_sessions

Sessions = Mapping[str, tuple[PastSession, ...]]
"""By their convoys' names."""


def of_convoy(log: Path, state: State, convoy: str) -> tuple[PastSession, ...]:
    """Return one convoy's sessions in the order in which they began."""
    return of_convoys(log, state, (convoy,))[convoy]


def of_convoys(log: Path, state: State, convoys: Iterable[str]) -> Sessions:
    """Return the sessions of some convoys.

    Args:
        log: the repository with the log.
        state: what the log says.
        convoys: their names.
    """
    known = tuple(bot_facts(log_export.entries(log), state.bots))
    return {name: past_sessions(name, known) for name in convoys}


def documents(sessions: Sessions) -> list[dict[str, Any]]:
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


def table(sessions: Sessions) -> Table:
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
