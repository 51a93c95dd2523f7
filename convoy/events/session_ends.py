"""How a session ends: once, and only the current one.

A task that was dropped or blocked meanwhile keeps its session until the session ends,
so that its slot and leases are not given away before; its work is refused.
"""

from msgspec.structs import replace

from convoy.events.fact import SHORT, SessionEvent, TaskEvent, clause
from convoy.model.attempt import HandedIn, Work
from convoy.model.failures import without_failures
from convoy.model.records import Report, Usage
from convoy.model.session_end import ended_session, half_done, spent_today
from convoy.model.state import Moment, State, Task


class WorkAccepted(SessionEvent, frozen=True, kw_only=True, tag="work.accepted"):
    """The gate let the attempt's commits through; the same push moves the branch."""

    attempt: int
    commit: str
    base: str
    files: tuple[str, ...]
    summary: str = ""
    ci_files: tuple[str, ...] = ()
    """Those of all its files that tell CI what to run: a person has to look at them."""
    usage: Usage = Usage()
    missing_walls: tuple[str, ...] = ()
    """The walls that the session does not claim to have had around its agent."""

    def sentence(self) -> str:
        attempt = f"task {self.task}, attempt {self.attempt}"
        return f"Took in {self.commit[:SHORT]} of {attempt}: {len(self.files)} files."

    def change(self, state: State) -> State:
        return without_failures(super().change(spent_today(state, self.usage)))

    def task_after(self, task: Task, now: Moment) -> Task:
        work = Work(
            attempt=self.attempt,
            commit=self.commit,
            base=self.base,
            files=self.files,
            ci_files=self.ci_files,
            log=now.commit,
            at=now.at,
            missing_walls=self.missing_walls,
        )
        return replace(
            ended_session(task, now, self.usage),
            state="needs-review",
            work=work,
            handed_in=HandedIn(self.attempt, self.commit),
            touched=tuple(sorted({*task.touched, *self.files})),
            approvals=(),
            earlier=None,
            unmerged=None,
            half_done=None,
        )


class TaskReported(TaskEvent, frozen=True, kw_only=True, tag="task.reported"):
    """An attempt ended in a valid report; the same push merges the task."""

    attempt: int
    report: Report
    """The agent's findings, cleaned."""

    def sentence(self) -> str:
        said = clause(self.report.summary)
        return f"Task {self.task}, attempt {self.attempt}, reports: {said}."

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, report=self.report)


class WorkRefused(SessionEvent, frozen=True, kw_only=True, tag="work.refused"):
    """The attempt ended without work that may land."""

    attempt: int
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, for the next attempt; empty: none."""

    def sentence(self) -> str:
        why = clause(self.why)
        return f"Refused task {self.task}, attempt {self.attempt}: {why}."

    def change(self, state: State) -> State:
        return super().change(spent_today(state, self.usage))

    def task_after(self, task: Task, now: Moment) -> Task:
        left = half_done(task, self.left)
        return replace(ended_session(task, now, self.usage), half_done=left)


class SessionLost(SessionEvent, frozen=True, kw_only=True, tag="session.lost"):
    """The session ended and left no result."""

    attempt: int
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, for the next attempt; empty: none."""

    def sentence(self) -> str:
        why = clause(self.why)
        return f"Lost the session of task {self.task}, attempt {self.attempt}: {why}."

    def change(self, state: State) -> State:
        return super().change(spent_today(state, self.usage))

    def task_after(self, task: Task, now: Moment) -> Task:
        left = half_done(task, self.left)
        return replace(ended_session(task, now, self.usage), half_done=left)
