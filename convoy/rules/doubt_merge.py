"""What CI says against a candidate is doubted first, and forgotten once it is green."""

from convoy.events.command import Command, Decision, Refusal, task_in
from convoy.events.doubts import MergeCleared, MergeDoubted
from convoy.kinds.relations import trial
from convoy.model.state import State
from convoy.readiness.landing import is_judged
from convoy.readiness.second_looks import flaky, is_suspect


class DoubtMerge(Command, frozen=True, kw_only=True):
    """CI found a task's candidate red, or ended without a verdict on it."""

    convoy: str
    task: int
    candidate: str
    is_red: bool
    checks: tuple[str, ...]
    """The checks that did not pass."""
    why: str
    also_red: tuple[int, ...] = ()
    """The tasks on top of it that are red by the same checks."""

    def decide(self, state: State) -> Decision:
        """Keep the work and let CI judge it again."""
        task = task_in(state, self.convoy, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        candidate = task.candidate
        if candidate is None or candidate.commit != self.candidate:
            return Refusal(f"{self.candidate} is not the candidate any more")
        convoy = state.convoys[self.convoy]
        if self.is_red and trial(convoy, task):
            return Refusal(f"task {task.number} is on trial")
        under = candidate.commit
        for number in self.also_red:
            above = convoy.task(number)
            if above is None or above.candidate is None:
                return Refusal(f"task {number} has no candidate")
            if above.candidate.base != under:
                return Refusal(f"task {number} does not stand on task {task.number}")
            under = above.candidate.commit
        return (
            MergeDoubted(
                convoy=self.convoy,
                task=task.number,
                candidate=candidate.commit,
                base=candidate.base,
                is_red=self.is_red,
                checks=self.checks,
                why=self.why,
                also_red=self.also_red,
            ),
        )


class ClearMerge(Command, frozen=True, kw_only=True):
    """CI found a task's work green that it had found red."""

    convoy: str
    task: int
    candidate: str
    judged: tuple[str, ...]

    def decide(self, state: State) -> Decision:
        """Let the work wait to land like any other."""
        task = task_in(state, self.convoy, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        candidate = task.candidate
        is_current = candidate is not None and candidate.commit == self.candidate
        if not is_current or not is_suspect(task):
            return Refusal(f"{self.candidate} is not the candidate any more")
        if not is_judged(state.convoys[self.convoy].settings, self.judged):
            return Refusal(f"{self.candidate} was not judged by all that must be green")
        return (
            MergeCleared(
                convoy=self.convoy,
                task=task.number,
                candidate=self.candidate,
                flaky=flaky(task),
            ),
        )
