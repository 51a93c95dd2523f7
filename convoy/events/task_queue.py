"""How a task waits: for a session, or for a person."""

from typing import Final

from msgspec.structs import replace

from convoy.events.fact import SessionEvent, clause
from convoy.model.attempt import HandedIn
from convoy.model.failures import with_failure, without_failures
from convoy.model.records import Cause
from convoy.model.state import Moment, State, Task

_FAILED: Final[frozenset[Cause]] = frozenset({"lost", "failed", "refused"})
_NOT_THE_WORKS: Final[frozenset[Cause]] = frozenset({"outage", "setup"})
"""Causes that say nothing about the task's work."""
_GIVEN_BACK: Final[frozenset[Cause]] = _NOT_THE_WORKS | {"conflict"}
"""Causes for which an attempt that was begun does not count."""


class TaskQueued(SessionEvent, frozen=True, kw_only=True, tag="task.queued"):
    """The task waits for a session; `why` is told to the next attempt."""

    cause: Cause
    why: str = ""
    not_before: int = 0
    """The earliest start (unix ms): the model's vendor wants a pause."""
    by: str = ""
    """The person whose words `why` tells the next attempt; empty: nobody's."""
    wanted_by: str = ""
    """The person who decided it; empty: nobody did."""

    def sentence(self) -> str:
        what = f"Task {self.task}" if self.task else "The plan"
        if not self.why:
            return f"{what} is queued."
        return f"{what} is queued again ({self.cause}): {clause(self.why)}."

    def change(self, state: State) -> State:
        after = super().change(state)
        if self.cause == "retry":
            return without_failures(after)
        return with_failure(after) if self.cause in _FAILED else after

    def task_after(self, task: Task, _now: Moment) -> Task:
        is_retry = self.cause == "retry"
        spent = 0 if is_retry else task.spent
        is_news = self.why and self.cause not in {*_NOT_THE_WORKS, "spent"}
        return replace(
            task.after_words_of(self.by),
            state="queued",
            cause=self.cause,
            why=self.why,
            spent=max(0, spent - (self.cause in _GIVEN_BACK)),
            splits=False,
            rounds=0 if is_retry else task.rounds,
            conflicts=self._conflicts(task),
            outages=task.outages + 1 if self.cause == "outage" else 0,
            not_before=self.not_before,
            notes=(*task.notes, self.why) if is_news else task.notes,
            handed_in=_sent_back(task, self.why),
            work=None,
            candidate=None,
            approvals=(),
            earlier=task.work if self.cause == "changes" else task.earlier,
        )

    def _conflicts(self, task: Task) -> int:
        if self.cause in ("retry", "changes"):  # a person acted, or a reviewer
            return 0
        return task.conflicts + (self.cause == "conflict")


def _sent_back(task: Task, why: str) -> HandedIn | None:
    """Return a task's newest work, with why it is sent back if it is now."""
    handed, work = task.handed_in, task.work
    if handed is None or work is None or work.attempt != handed.attempt:
        return handed
    return replace(handed, why=why)


class TaskBlocked(SessionEvent, frozen=True, kw_only=True, tag="task.blocked"):
    """A person must act."""

    why: str
    cause: Cause | None = None
    """The outcome of its last attempt; null: a person or a rule stopped it."""
    splits: bool = False
    """Whether it was too much for one agent, so that smaller tasks may do it."""
    wanted_by: str = ""
    """The person who decided it; empty: nobody did."""

    def sentence(self) -> str:
        return f"Task {self.task} is blocked: {clause(self.why)}."

    def change(self, state: State) -> State:
        after = super().change(state)
        return with_failure(after) if self._ran(state) else after

    def _ran(self, state: State) -> bool:
        """Whether the task is blocked instead of getting another attempt."""
        convoy = state.convoys.get(self.convoy)
        task = convoy.in_session(self.task) if convoy else None
        return task is not None and task.state == "running"

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(
            task,
            state="blocked",
            cause=self.cause or task.cause,
            why=self.why,
            candidate=None,
            splits=self.splits,
        )
