"""What agents leave for each other: notes, the scratchpad, and further work. Pure.

All of it was written by agents, which may have been talked into anything: it is kept in
bounds and cleaned on its way into the log, and is data again for whoever reads it.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from convoy.text.plaintext import clean, cut
from convoy.text.redaction import redacted

LINES_MOST: Final = 10
"""Of one kind, that one attempt may leave."""
FOLLOWUPS_MOST: Final = 5
LINE_CHARS: Final = 400
FOLLOWUP_CHARS: Final = 120
"""As long as any task's title."""
SCRATCHPAD_CHARS: Final = 4_000
"""Of a convoy's; then the oldest lines go."""


class Left(Struct, frozen=True, kw_only=True):
    """What one attempt's agent leaves for others, a line each."""

    notes: tuple[str, ...] = ()
    """For the tasks that build on its own."""
    shared: tuple[str, ...] = ()
    """For every agent of the convoy."""
    followups: tuple[str, ...] = ()
    """Further work, by its title."""


NOTHING: Final = Left()


def bounded(left: Left) -> Left:
    """Return what an agent left, cleaned and cut; safe to do twice."""
    return Left(
        notes=_lines(left.notes, LINES_MOST),
        shared=_lines(left.shared, LINES_MOST),
        followups=_lines(left.followups, FOLLOWUPS_MOST, FOLLOWUP_CHARS),
    )


def _lines(said: Iterable[str], most: int, room: int = LINE_CHARS) -> tuple[str, ...]:
    """Return the first lines, each once and without what looks like a secret."""
    plain = (" ".join(redacted(clean(line)).split()) for line in said)
    lines = dict.fromkeys(cut(line, room) for line in plain if line)
    return tuple(lines)[:most]


def added(scratchpad: tuple[str, ...], lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the scratchpad with more lines, without the oldest that do not fit."""
    both = (*(line for line in scratchpad if line not in lines), *lines)
    room = SCRATCHPAD_CHARS
    for place in range(len(both) - 1, -1, -1):
        room -= len(both[place])
        if room < 0:
            return both[place + 1 :]
    return both
