"""What a rule answers, and the commands that ask: may this happen?

A command is an imperative that carries all outside facts; its `decide` is the rule. The
rules keep brat's promises: nothing starts before what it needs, an attempt ends once,
only the current candidate lands, and an announced action is noted done once.
"""

from msgspec import Struct

from convoy.events.fact import Event
from convoy.model.state import Convoy, State, Task

Events = tuple[Event, ...]


class Refusal(Struct, frozen=True):
    """Why the rules forbid it, in one sentence."""

    why: str


Decision = Events | Refusal


class Command(Struct, frozen=True, kw_only=True):
    """What the shell asks the rules."""

    def decide(self, state: State) -> Decision:
        """Return the events that it leads to in `state`, or why it may not happen.

        A refusal is a value: a repeated or late command is no error.
        """
        raise NotImplementedError


def unsettled(state: State, name: str, number: int) -> Task | Refusal:
    """Return a task that is not settled, of a convoy that has not ended."""
    convoy = live(state, name)
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(number)
    if task is None:
        return Refusal(f"{name} has no task {number}")
    return Refusal(f"task {number} is {task.state}") if task.settled else task


def live(state: State, name: str) -> Convoy | Refusal:
    """Return a convoy that has not ended."""
    convoy = state.convoys.get(name)
    if convoy is None:
        return Refusal(f"there is no convoy {name}")
    return Refusal(f"{name} is {convoy.state}") if convoy.ended else convoy


def in_state(state: State, name: str, wanted: str) -> Convoy | Refusal:
    """Return a convoy that is in the wanted state."""
    convoy = live(state, name)
    if isinstance(convoy, Refusal) or convoy.state == wanted:
        return convoy
    return Refusal(f"{name} is {convoy.state}, not {wanted}")


def task_in(state: State, name: str, number: int, wanted: str) -> Task | Refusal:
    """Return a task that is in the wanted state, of a convoy that has not ended."""
    convoy = live(state, name)
    if isinstance(convoy, Refusal):
        return convoy
    task = convoy.task(number)
    if task is None:
        return Refusal(f"{name} has no task {number}")
    if task.state != wanted:
        return Refusal(f"task {number} of {name} is {task.state}, not {wanted}")
    return task


def in_session(state: State, name: str, number: int, attempt: int) -> Task | Refusal:
    """Return the task whose session is this attempt; it may be dropped or blocked."""
    convoy = state.convoys.get(name)
    task = convoy.in_session(number) if convoy else None
    if task is None:
        return Refusal(f"{name} has no task {number}")
    if task.attempt is None:
        return Refusal(f"task {number} of {name} is {task.state}, not running")
    if task.attempt.number != attempt:
        return Refusal(f"attempt {attempt} of task {number} is not the current one")
    return task
