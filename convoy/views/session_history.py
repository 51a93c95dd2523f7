"""What became of every session of a convoy, out of the log. Pure."""

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from convoy.events import Event
from convoy.events.candidates import MergeAttempted, MergeLanded
from convoy.events.forge_actions import ActionDone
from convoy.events.review_verdicts import WorkReviewed
from convoy.events.rival_choice import ChoiceMade
from convoy.events.session_ends import SessionLost, WorkAccepted, WorkRefused
from convoy.events.task_ends import TaskMerged
from convoy.events.task_queue import TaskBlocked, TaskQueued
from convoy.events.task_start import TaskStarted
from convoy.model import ids
from convoy.model.records import Usage

How = Literal["running", "handed in", "landed", "sent back", "refused", "lost"]
"""`handed in`: the gate let its work through, and it has not landed yet."""


class Past(Struct, frozen=True, kw_only=True):
    """One session, from its start to what became of its work."""

    task: int
    """0: it planned."""
    attempt: int
    engine: str
    """What kind of agent CLI."""
    begun: int
    """Unix ms."""
    queued: int = 0
    """When its task began to wait for it, unix ms; 0: unknown."""
    run: int = 0
    """The workflow run; 0: it is not known."""
    ended: int = 0
    """Unix ms; 0: it runs."""
    offered: int = 0
    """When CI was first asked to judge its work, unix ms; 0: it was not."""
    landed: int = 0
    """Unix ms; 0: its work has not landed."""
    back: int = 0
    """When its work was sent back, unix ms; 0: it was not."""
    commit: str = ""
    """The work that it handed in; empty: none."""
    base: str = ""
    """The commit that its work is measured from."""
    files: tuple[str, ...] = ()
    """The files that its work changes."""
    acceptance: str = ""
    """The command that had to accept its work; empty: none."""
    walls: tuple[str, ...] | None = None
    """The walls of its box that it did not claim; None: it handed nothing in."""
    how: How = "running"
    why: str = ""
    """Why its work did not land."""
    judged: tuple[str, ...] = ()
    """The checks that judged what landed."""
    usage: Usage = Usage()

    @property
    def took_s(self) -> float:
        """How long it took, in seconds; 0 while it runs."""
        return max(0, self.ended - self.begun) / 1000 if self.ended else 0.0


_DISPATCH: Final = ids.dispatch_key("")
CONVOYS: Final = 100
"""The sessions of so many convoys are kept at most: those that sessions began in last.
"""


class _Sessions:
    """The sessions of one convoy, in the order in which they began."""

    def __init__(self) -> None:
        self.by_attempt: dict[tuple[int, int], Past] = {}
        self._newest: dict[int, tuple[int, int]] = {}
        self._queued: dict[int, int] = {}

    def read(self, at: int, fact: Event) -> None:
        if isinstance(fact, TaskQueued):
            self._queued[fact.task] = at
        if isinstance(fact, TaskStarted):
            key = self._newest[fact.task] = (fact.task, fact.attempt)
            self.by_attempt[key] = Past(
                task=fact.task,
                attempt=fact.attempt,
                engine=fact.engine.type,
                begun=at,
                queued=self._queued.get(fact.task, 0),
                acceptance=fact.acceptance,
            )
        elif known := self._newest.get(getattr(fact, "task", -1)):
            self.by_attempt[known] = _after(self.by_attempt[known], at, fact)


class SessionHistory:
    """The sessions of the newest convoys of a log, as far as it was read."""

    def __init__(self) -> None:
        """Begin before the log's first event."""
        self._convoys: dict[str, _Sessions] = {}

    def read(self, facts: Iterable[tuple[int, Event]]) -> None:
        """Go on with the bots' next events and their times (unix ms), in order."""
        for at, fact in facts:
            name = getattr(fact, "convoy", "")
            if isinstance(fact, ActionDone) and fact.key.startswith(_DISPATCH):
                self.ran(fact.key, fact.number)
            if isinstance(fact, TaskStarted):
                known = (
                    self._convoys.pop(name) if name in self._convoys else _Sessions()
                )
                self._convoys[name] = known
                if len(self._convoys) > CONVOYS:
                    del self._convoys[next(iter(self._convoys))]
            if name in self._convoys:
                self._convoys[name].read(at, fact)

    def ran(self, key: str, run: int) -> None:
        """Note the workflow run of a session that was dispatched."""
        try:
            name, task, attempt = ids.parse_session(key.removeprefix(_DISPATCH))
        except ValueError:
            return
        known = self._convoys[name].by_attempt if name in self._convoys else {}
        if (task, attempt) in known:
            known[task, attempt] = replace(known[task, attempt], run=run)

    def of(self, convoy: str) -> tuple[Past, ...]:
        """Return a convoy's sessions; none of one that is too old to be kept."""
        found = self._convoys.get(convoy)
        return tuple(found.by_attempt.values()) if found else ()


def past(convoy: str, facts: Iterable[tuple[int, Event]]) -> tuple[Past, ...]:
    """Return a convoy's sessions in the order in which they began.

    Args:
        convoy: its name.
        facts: the bots' events of the whole log with their times (unix ms), in order.
    """
    history = SessionHistory()
    history.read(
        each
        for each in facts
        if getattr(each[1], "convoy", "") == convoy or isinstance(each[1], ActionDone)
    )
    return history.of(convoy)


def _after(  # noqa: C901  one arm a kind
    one: Past, at: int, fact: Event
) -> Past:
    match fact:
        case WorkAccepted():
            return replace(
                one,
                ended=at,
                how="handed in",
                usage=fact.usage,
                commit=fact.commit,
                base=fact.base,
                files=fact.files,
                walls=fact.missing_walls,
            )
        case MergeAttempted() if one.how == "handed in" and not one.offered:
            return replace(one, offered=at)
        case WorkRefused():
            how, why = "refused", fact.why
            return replace(one, ended=at, how=how, why=why, usage=fact.usage)
        case SessionLost():
            how, why = "lost", fact.why
            return replace(one, ended=at, how=how, why=why, usage=fact.usage)
        case TaskQueued() | TaskBlocked(cause="red" | "conflict") if (
            one.how == "handed in"
        ):
            return replace(one, how="sent back", why=fact.why, back=at)
        case MergeLanded() if one.task:  # of task 0 it is the convoy's
            return replace(one, how="landed", landed=at, judged=fact.judged)
        case WorkReviewed() | ChoiceMade() if fact.attempt:
            return replace(one, ended=at, how="handed in", usage=fact.usage)
        case TaskMerged(commit=None) if one.ended:  # a review, with what it looked at
            return replace(one, how="landed", landed=at)
        case TaskMerged(commit=None):
            return replace(one, ended=at, how="landed", landed=at, usage=fact.usage)
        case _:
            return one
