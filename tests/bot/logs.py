"""What a bot writes to its log, and what is read from it without a mirror."""

from collections.abc import Callable

from bot.repository.mirror import Mirror
from convoy.events.people_events import ConvoyPaused, ConvoyResumed
from convoy.log.record import fold, record
from convoy.model.state import State
from grite.event import Event
from grite.wal import Log
from tests.bot.history import History
from tests.world.rules import ACTOR, NAME, Rules, spec

Open = Callable[[str], Mirror]
"""Opens a mirror under a name."""


def story() -> tuple[Event, ...]:
    """Return a log: a bot starts, and a convoy is planned."""
    return tuple(Rules().planned(spec(1)).written)


def write(mirror: Mirror, *events: Event) -> None:
    mirror.push(events, {}, actor=ACTOR)


def paused(mirror: Mirror, by: str = "ann") -> tuple[Event, ...]:
    fact = ConvoyPaused(convoy=NAME, by=by)
    return record(mirror.state, [fact], actor=ACTOR, at=0)[1]


def resumed(mirror: Mirror) -> tuple[Event, ...]:
    fact = ConvoyResumed(convoy=NAME, by="ann")
    return record(mirror.state, [fact], actor=ACTOR, at=0)[1]


def read(origin: History) -> State:
    """Return what the remote's log says, read by nobody's mirror."""
    log = Log(origin.path)
    head, state = log.head(), State()
    for entry in log.entries(head) if head else ():
        state = fold(state, entry.commit, entry.events)
    return state
