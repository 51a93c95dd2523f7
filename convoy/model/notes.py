"""What agents leave for each other: notes, the scratchpad, and further work. Pure.

Agents wrote all of it and may have been talked into anything: it is cut and cleaned on
its way into the log, and remains data for whoever reads it.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from convoy.model.records import Report
from convoy.text import clean, cut, redacted

LINES_MOST: Final = 10
"""The most lines of one kind that one attempt may leave."""
FOLLOWUPS_MOST: Final = 5
LINE_CHARS: Final = 400
FOLLOWUP_CHARS: Final = 120
"""The longest title of further work: as long as any task's title."""
SCRATCHPAD_CHARS: Final = 4_000
"""The most lines of a convoy's scratchpad; beyond it the oldest go."""
HANDED_CHARS: Final = 12_000
"""How much of a report each task that waits for it is given."""


class Left(Struct, frozen=True, kw_only=True):
    """What one attempt's agent leaves for others, in lines."""

    notes: tuple[str, ...] = ()
    """Lines for the tasks that build on its own."""
    shared: tuple[str, ...] = ()
    """Lines for every agent of the convoy."""
    followups: tuple[str, ...] = ()
    """The titles of further work."""


NOTHING: Final = Left()


def bounded(left: Left) -> Left:
    """Return what an agent left, cleaned and cut; safe to do twice."""
    return Left(
        notes=_lines(left.notes, LINES_MOST),
        shared=_lines(left.shared, LINES_MOST),
        followups=_lines(left.followups, FOLLOWUPS_MOST, FOLLOWUP_CHARS),
    )


def _lines(said: Iterable[str], most: int, room: int = LINE_CHARS) -> tuple[str, ...]:
    """Return the first lines, without duplicates and apparent secrets."""
    plain = (" ".join(redacted(clean(line)).split()) for line in said)
    lines = dict.fromkeys(cut(line, room) for line in plain if line)
    return tuple(lines)[:most]


def added(scratchpad: tuple[str, ...], lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the scratchpad with lines added and the oldest dropped if it is full."""
    both = (*(line for line in scratchpad if line not in lines), *lines)
    room = SCRATCHPAD_CHARS
    for place in range(len(both) - 1, -1, -1):
        room -= len(both[place])
        if room < 0:
            return both[place + 1 :]
    return both


def handed(report: Report) -> str:
    """Return a report, cut to what other agents are given of it."""
    parts = [report.summary]
    for finding in report.findings:
        where = f" ({', '.join(finding.paths)})" if finding.paths else ""
        detail = f": {finding.detail}" if finding.detail else ""
        parts.append(f"- {finding.title}{where}{detail}")
    if report.recommendation:
        parts.append(f"It recommends: {report.recommendation}")
    parts += (f"Open: {each}" for each in report.open)
    return cut("\n".join(parts), HANDED_CHARS)
