"""The share of sessions that succeeded, by engine and kind of task. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce

from msgspec import Struct

from convoy.model.records import Usage
from convoy.model.session_result import plus, usage_in_words
from convoy.model.state import Convoy
from convoy.model.task_graph import Area, area_of
from convoy.views.estimates import files_of
from convoy.views.history import PastSession


class Tally(Struct, frozen=True, kw_only=True):
    """The results of one engine's sessions on one kind of task."""

    engine: str
    kind: Area | str
    sessions: int
    landed: int
    seconds: float
    """The average duration of one session."""
    used: str
    """The tokens and money of all sessions; empty: unknown."""

    @property
    def percent(self) -> int:
        """The percentage of sessions that landed."""
        return round(100 * self.landed / self.sessions)


def tallies(convoy: Convoy, sessions: Sequence[PastSession]) -> tuple[Tally, ...]:
    """Return a row for each engine and kind of task, sorted by name."""
    groups: dict[tuple[str, str], list[PastSession]] = defaultdict(list)
    for one in sessions:
        task = convoy.task(one.task)
        kind = area_of(files_of(task)) if task else "plan"
        groups[one.engine, kind].append(one)
    return tuple(_tally(*key, some) for key, some in sorted(groups.items()))


def _tally(engine: str, kind: str, some: list[PastSession]) -> Tally:
    ended = [one for one in some if one.ended]
    return Tally(
        engine=engine,
        kind=kind,
        sessions=len(some),
        landed=sum(bool(one.landed) for one in some),
        seconds=sum(one.took_s for one in ended) / max(1, len(ended)),
        used=usage_in_words(reduce(plus, (one.usage for one in some), Usage())),
    )
