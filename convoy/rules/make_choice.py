"""The result of a choice between rivals, with or without an attempt that judged."""

from convoy.events.command import Command, Decision, Refusal, in_session, task_in
from convoy.kinds.choice_kind import ONLY, is_choice, is_open, left, made, under_way
from convoy.model.records import Usage
from convoy.model.state import State
from convoy.rules.consequences import freed, too_late


class MakeChoice(Command, frozen=True, kw_only=True):
    """A rival is chosen to land: by an attempt that judged, or as the only one left."""

    convoy: str
    task: int
    """The choice's own number."""
    attempt: int = 0
    """The attempt; 0: nobody judged."""
    on: int = 0
    """The rival; 0: the only one left."""
    text: str = ""
    usage: Usage = Usage()

    def decide(self, state: State) -> Decision:
        """Let one rival land; without an attempt only if one is left."""
        if not self.attempt:
            return _without_a_judge(state, self)
        task = in_session(state, self.convoy, self.task, self.attempt)
        if isinstance(task, Refusal):
            return task
        if not is_choice(task):
            return Refusal(f"task {task.number} is no choice")
        if task.state != "running":
            return too_late(state, self.convoy, task, self.attempt, self.usage)
        convoy = state.convoys[self.convoy]
        found = {rival.number: rival for rival in left(convoy, task)}
        if self.on not in found:
            return Refusal(f"task {self.on} is no rival that CI finds green")
        winner = found[self.on]
        events = made(state, convoy, task, winner, self.text, usage=self.usage)
        return (*events, *freed(state, convoy.name, task))


def _without_a_judge(state: State, command: MakeChoice) -> Decision:
    task = task_in(state, command.convoy, command.task, "queued")
    if isinstance(task, Refusal):
        return task
    convoy = state.convoys[command.convoy]
    found = left(convoy, task)
    if not is_open(task) or under_way(convoy, task) or len(found) != 1:
        return Refusal(f"task {task.number} has nothing to take unseen")
    return made(state, convoy, task, found[0], ONLY)
