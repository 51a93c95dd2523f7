"""The base of every event and claim: a value with a sentence and, for events, a fold.

Every kind is a subclass of a class here. `convoy.events` finds them all: to add a kind,
add its class to another file of this package.
"""

from typing import Final

from msgspec import Struct

from convoy.model.change import change_convoy, change_session, change_task
from convoy.model.state import Convoy, Moment, State, Task

SHORT: Final = 10
"""How many characters of a commit's id are shown to people."""


class Fact(Struct, frozen=True, kw_only=True, tag_field="type"):
    """An entry of the log: the version of its JSON form, and a sentence."""

    v: int = 1

    def sentence(self) -> str:
        """Return one sentence for people who read the log itself."""
        raise NotImplementedError


class Claim(Fact, frozen=True, kw_only=True):
    """A session's statement about itself; the fold never believes it."""

    convoy: str
    task: int
    attempt: int

    @property
    def session(self) -> str:
        """The session that says it, in the words that begin its sentence."""
        return f"Session {self.convoy}/{self.task}/{self.attempt}"


class Event(Fact, frozen=True, kw_only=True):
    """An entry that a bot wrote; it changes the state."""

    def change(self, state: State) -> State:
        """Return the state after it; one about an unknown convoy changes nothing.

        Every event is believed: its rule has already decided that it may happen. The
        time and commit come from `state.moment`, which the fold sets before each event.
        """
        raise NotImplementedError


class ConvoyEvent(Event, frozen=True, kw_only=True):
    """An event that changes one convoy."""

    convoy: str

    def change(self, state: State) -> State:
        """Return the state with the convoy as it is after this."""
        now = state.moment
        return change_convoy(state, self.convoy, lambda c: self.convoy_after(c, now))

    def convoy_after(self, convoy: Convoy, now: Moment, /) -> Convoy:
        """Return the convoy after this."""
        raise NotImplementedError


class TaskEvent(ConvoyEvent, frozen=True, kw_only=True):
    """An event that changes one task."""

    task: int

    def convoy_after(self, convoy: Convoy, now: Moment, /) -> Convoy:
        """Return the convoy with the task as it is after this."""
        return change_task(convoy, self.task, lambda task: self.task_after(task, now))

    def task_after(self, task: Task, now: Moment, /) -> Task:
        """Return the task after this."""
        raise NotImplementedError


class SessionEvent(TaskEvent, frozen=True, kw_only=True):
    """An event that changes what a session works on: a task, or for 0 the plan."""

    def convoy_after(self, convoy: Convoy, now: Moment, /) -> Convoy:
        """Return the convoy with the task, or the plan, as it is after this."""
        return change_session(convoy, self.task, lambda t: self.task_after(t, now))


def clause(text: str) -> str:
    """Return the first line of `text`, short, without a full stop."""
    first = text.strip().split("\n", 1)[0]
    return first[:200].rstrip(". ")


def subject(task: int) -> str:
    """Return the words for a task, or for 0 the convoy itself."""
    return f"task {task}" if task else "the convoy"
