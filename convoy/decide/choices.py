"""What a choice between rivals comes to, by an attempt that judges or without one."""

from convoy.commands import MakeChoice
from convoy.decide.chosen import ONLY, made
from convoy.decide.consequence import freed
from convoy.decide.lookup import in_session, task_in
from convoy.decide.sessions import too_late
from convoy.decide.verdict import Decision, Refusal
from convoy.rivals import chooses, left, under_way
from convoy.state import State


def make(state: State, command: MakeChoice) -> Decision:
    """Let one rival land; without an attempt only where one is left."""
    if not command.attempt:
        return _without_a_judge(state, command)
    task = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    if task.spec.kind != "choice":
        return Refusal(f"task {task.number} is no choice")
    if task.state != "running":
        return too_late(state, command, task)
    convoy = state.convoys[command.convoy]
    found = {rival.number: rival for rival in left(convoy, task)}
    if command.on not in found:
        return Refusal(f"task {command.on} is no rival that CI finds green")
    winner = found[command.on]
    events = made(state, convoy, task, winner, command.text, usage=command.usage)
    return (*events, *freed(state, convoy.name, task))


def _without_a_judge(state: State, command: MakeChoice) -> Decision:
    task = task_in(state, command.convoy, command.task, "queued")
    if isinstance(task, Refusal):
        return task
    convoy = state.convoys[command.convoy]
    found = left(convoy, task)
    if not chooses(task) or under_way(convoy, task) or len(found) != 1:
        return Refusal(f"task {task.number} has nothing to take unseen")
    return made(state, convoy, task, found[0], ONLY)
