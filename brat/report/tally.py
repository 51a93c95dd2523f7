"""How often sessions succeeded, by engine and kind of task. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce

from msgspec import Struct

from convoy.events import Usage
from convoy.state import Convoy
from convoy.told.past import Past
from convoy.told.review import Kind, files_of, kind_of
from convoy.told.spending import spoken
from convoy.usage import plus


class Tally(Struct, frozen=True, kw_only=True):
    """What the sessions of one engine did on one kind of task."""

    engine: str
    kind: Kind | str
    sessions: int
    landed: int
    seconds: float
    """Of one session, on average."""
    used: str
    """In all; empty: nothing is known."""

    @property
    def percent(self) -> int:
        """How many of a hundred landed."""
        return round(100 * self.landed / self.sessions)


def tallies(convoy: Convoy, sessions: Sequence[Past]) -> tuple[Tally, ...]:
    """Return a row for each engine and kind of task, by name."""
    groups: dict[tuple[str, str], list[Past]] = defaultdict(list)
    for one in sessions:
        task = convoy.task(one.task)
        kind = kind_of(files_of(task)) if task else "plan"
        groups[one.engine, kind].append(one)
    return tuple(_tally(*key, some) for key, some in sorted(groups.items()))


def _tally(engine: str, kind: str, some: list[Past]) -> Tally:
    ended = [one for one in some if one.ended]
    return Tally(
        engine=engine,
        kind=kind,
        sessions=len(some),
        landed=sum(bool(one.landed) for one in some),
        seconds=sum(one.took_s for one in ended) / max(1, len(ended)),
        used=spoken(reduce(plus, (one.usage for one in some), Usage())),
    )
