"""The log's past: what it folded to at any of its commits, and when that was."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from convoy.events import Event
from convoy.log.codec import fact_of
from convoy.log.record import fold
from convoy.model.state import Convoy, State
from grite.errors import Rewritten
from grite.event import CommentAdded, Event as GriteEvent
from grite.wal import Log

TRACKS: Final = 4
"""How many convoys' steps are kept: the last that were asked for."""
STRIDE: Final = 250
"""After how many commits a state is kept at first, so that the next fold begins near.
"""
MARKS: Final = 64
"""How many are kept; of more, every second one goes."""


class Step(Struct, frozen=True):
    """A commit of the log that changed a convoy."""

    number: int
    """Its place in the log, from 1."""
    commit: str
    at: int
    """Unix ms."""
    said: tuple[str, ...]
    """A sentence for each of the convoy's events in it."""


class _Mark(Struct, frozen=True):
    """A state, and the commit of the log that it was at."""

    number: int = 0
    commit: str = ""
    state: State = State()


class _Track(Struct, frozen=True):
    """A convoy's steps up to a commit."""

    mark: _Mark = _Mark()
    steps: tuple[Step, ...] = ()


class PastStates:
    """Past states of one log. Not for several threads at once."""

    def __init__(self, log: Log) -> None:
        """Keep nothing yet."""
        self._log = log
        self._marks, self._stride = [_Mark()], STRIDE
        self._tracks: dict[str, _Track] = {}

    def steps(self, head: str, convoy: str) -> tuple[Step, ...]:
        """Return the commits up to `head` that changed a convoy, oldest first.

        The first time this reads the whole log, later only what is new.

        Raises:
            Missing: the log is not all here, as in a shallow clone.
        """
        known = self._tracks.pop(convoy, _Track())
        try:
            found = self._track(head, convoy, known)
        except Rewritten:  # what is known is of another log
            self._marks, self._tracks = [_Mark()], {}
            found = self._track(head, convoy, _Track())
        self._tracks[convoy] = found
        if len(self._tracks) > TRACKS:
            del self._tracks[next(iter(self._tracks))]
        return found.steps

    def at(self, step: Step) -> State:
        """Return what the log folds to at one of its steps.

        Raises:
            Rewritten: the step is of another log.
            Missing: the log is not all here.
        """
        near = max(
            (each for each in self._marks if each.number <= step.number),
            key=lambda each: each.number,
        )
        if near.commit == step.commit:
            return near.state
        *_, (mark, _) = _folded(self._log, step.commit, near)
        return mark.state

    def _track(self, head: str, convoy: str, known: _Track) -> _Track:
        if known.mark.commit == head:
            return known
        mark, steps = known.mark, list(known.steps)
        for after, events in _folded(self._log, head, mark):
            if after.state.convoys.get(convoy) is not mark.state.convoys.get(convoy):
                steps.append(_step(after, events, convoy))
            mark = after
            self._keep(mark)
        return _Track(mark, tuple(steps))

    def _keep(self, mark: _Mark) -> None:
        if mark.number - self._marks[-1].number < self._stride:
            return
        self._marks.append(mark)
        if len(self._marks) > MARKS:
            self._marks, self._stride = self._marks[::2], 2 * self._stride


def convoy_steps(log: Log, head: str, convoy: str) -> Iterator[tuple[Step, Convoy]]:
    """Yield each commit up to `head` that changed a convoy, and what that came to be.

    Raises:
        Missing: the log is not all here, as in a shallow clone.
    """
    known: Convoy | None = None
    for mark, events in _folded(log, head, _Mark()):
        found = mark.state.convoys.get(convoy)
        if found is not None and found is not known:
            yield _step(mark, events, convoy), found
        known = found


def _step(mark: _Mark, events: tuple[GriteEvent, ...], convoy: str) -> Step:
    at, said = mark.state.moment.at, _said(events, convoy)
    return Step(mark.number, mark.commit, at, said)


def state_at(log: Log, head: str, at: int) -> State:
    """Return what the log folded to at a time; an empty state if it is younger.

    Args:
        log: where.
        head: its newest commit that counts.
        at: unix ms.

    Raises:
        Missing: the log is not all here, as in a shallow clone.
    """
    state = State()
    for mark, _ in _folded(log, head, _Mark()):
        if mark.state.moment.at > at:
            break
        state = mark.state
    return state


def _folded(
    log: Log, head: str, mark: _Mark
) -> Iterator[tuple[_Mark, tuple[GriteEvent, ...]]]:
    """Yield the state after each commit that counts, and what that holds."""
    for entry in log.read(head, since=mark.commit or None, whole=True):
        if entry.is_foreign:
            continue
        state = fold(mark.state, entry.commit, entry.events, entry.actor)
        mark = _Mark(mark.number + 1, entry.commit, state)
        yield mark, entry.events


def _said(events: tuple[GriteEvent, ...], convoy: str) -> tuple[str, ...]:
    """Return the first line of each event of a commit that is about a convoy."""
    bodies = (each.kind.body for each in events if isinstance(each.kind, CommentAdded))
    return tuple(
        body.partition("\n")[0]
        for body in bodies
        if isinstance(fact := fact_of(body), Event)
        and getattr(fact, "convoy", "") == convoy
    )
