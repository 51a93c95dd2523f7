"""Convoys and tasks in the state a rule wants them in, or a refusal that says why."""

from convoy.decide.verdict import Refusal
from convoy.kinds import coder
from convoy.rivals import choice_of
from convoy.state import Convoy, State, Task


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


def in_use(convoy: Convoy, task: Task) -> Refusal | None:
    """Return why a task stays as it is: it lands with another that has begun.

    Tests go with their code, and a choice that is made with the rival it chose.
    """
    if task.chosen:
        return Refusal(f"task {task.number} chose task {task.chosen}, and goes with it")
    code = coder(convoy, task) if task.spec.kind == "tests" else None
    if code is None or code.settled or not code.started:
        return None
    number = code.number
    return Refusal(f"task {number} goes on from the tests of task {task.number}")


def being_judged(convoy: Convoy, task: Task) -> Refusal | None:
    """Return why a rival's work stays as it is: somebody compares it just now."""
    choice = choice_of(convoy, task.number)
    if choice is None or choice.attempt is None or choice.chosen:
        return None
    return Refusal(f"task {choice.number} compares task {task.number} with its rivals")


def in_session(state: State, name: str, number: int, attempt: int) -> Task | Refusal:
    """Return a task whose session is this attempt's; it may be given up by now."""
    convoy = state.convoys.get(name)
    task = convoy.in_session(number) if convoy else None
    if task is None:
        return Refusal(f"{name} has no task {number}")
    if task.attempt is None:
        return Refusal(f"task {number} of {name} is {task.state}, not running")
    if task.attempt.number != attempt:
        return Refusal(f"attempt {attempt} of task {number} is not the current one")
    return task
