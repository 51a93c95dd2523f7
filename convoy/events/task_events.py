"""How a task waits, for a session or for a person, and how tasks and convoys end."""

from msgspec.structs import replace

from convoy.events import (
    SHORT,
    ConvoyEvent,
    Events,
    TaskEvent,
    clause,
    copied,
    ended_once,
)
from convoy.events.forge_actions import final_comment
from convoy.events.people_events import FAILED_KEY, known
from convoy.events.session_events import ended_session, spent_today
from convoy.model import ids
from convoy.model.records import CAUSES, Cause, Usage
from convoy.model.state import Convoy, Moment, State, Task, change_part


class TaskQueued(TaskEvent, frozen=True, kw_only=True, tag="task.queued"):
    """The task waits for a session; its next attempt is told `why`."""

    cause: Cause
    why: str = ""
    not_before: int = 0
    """The earliest start (unix ms), if the model's vendor asked for a pause."""
    by: str = ""
    """The person whose words `why` contains; empty: no one's."""
    wanted_by: str = ""
    """The person who decided it; empty: no one did."""

    def sentence(self) -> str:
        what = f"Task {self.task}" if self.task else "The plan"
        if not self.why:
            return f"{what} was queued."
        return ended_once(
            f"{what} was queued again ({self.cause}): {clause(self.why)}."
        )

    def change(self, state: State) -> State:
        after = super().change(state)
        if self.cause == "retry":
            return after.without_failures()
        return replace(after, failures=after.failures + CAUSES[self.cause].in_a_row)

    def task_after(self, task: Task, _now: Moment) -> Task:
        is_retry, means = self.cause == "retry", CAUSES[self.cause]
        spent = 0 if is_retry else task.spent
        conflicts = task.conflicts + (self.cause == "conflict")
        handed = task.handed_in
        if handed and task.work:  # it is sent back now
            handed = replace(handed, why=self.why)
        return replace(
            task.after_words_of(self.by),
            state="queued",
            cause=self.cause,
            why=self.why,
            spent=max(0, spent - means.gives_back),
            rounds=0 if is_retry else task.rounds,
            conflicts=0 if means.asked_for else conflicts,
            outages=task.outages + 1 if self.cause == "outage" else 0,
            not_before=self.not_before,
            notes=(*task.notes, self.why) if self.why and means.is_told else task.notes,
            handed_in=handed,
            work=None,
            candidate=None,
            approvals=(),
            earlier=task.work if self.cause == "changes" else task.earlier,
        )


class TaskBlocked(TaskEvent, frozen=True, kw_only=True, tag="task.blocked"):
    """The task cannot continue until a person acts."""

    SAYS = "Task {task} was blocked: {why:clause}."
    why: str
    cause: Cause | None = None
    """The outcome of its last attempt; null: a person or a rule stopped it."""
    wanted_by: str = ""
    """The person who decided it; empty: no one did."""

    def change(self, state: State) -> State:
        after = super().change(state)
        convoy = state.convoys.get(self.convoy)
        task = convoy.in_session(self.task) if convoy else None
        # If it ran, it is blocked instead of getting another attempt.
        has_failed = task is not None and task.state == "running"
        return replace(after, failures=after.failures + has_failed)

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(
            task,
            state="blocked",
            cause=self.cause or task.cause,
            why=self.why,
            candidate=None,
        )


class WorkRebased(TaskEvent, frozen=True, kw_only=True, tag="work.rebased"):
    """A person had the work rebased; the same push moves the branch."""

    SAYS = "{by} had task {task} rebased onto {base:short}: {commit:short}."
    commit: str
    base: str
    by: str

    def task_after(self, task: Task, now: Moment) -> Task:
        if task.work is None:
            return task
        work = replace(task.work, commit=self.commit, base=self.base, log=now.commit)
        task = task.left_at(self.commit)
        return replace(task, work=work, approvals=(), candidate=None)


class TaskMerged(TaskEvent, frozen=True, kw_only=True, tag="task.merged"):
    """The task's work is on the convoy's branch (or there was nothing to do)."""

    commit: str | None = None
    usage: Usage = Usage()
    why: str = ""
    """Why nothing landed; empty if work landed or the agent said there was none."""
    target: str = ""
    """If a person did the work on the target: its commit, which the convoy's branch
    must merge in. Empty: the branch already has the work."""

    def sentence(self) -> str:
        if self.why:
            return f"Task {self.task} needed no change: {clause(self.why)}."
        if self.commit is None:
            return f"Task {self.task} needed no change."
        return f"Task {self.task} was merged as {self.commit[:SHORT]}."

    def change(self, state: State) -> State:
        return super().change(spent_today(state, self.usage)).without_failures()

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        """Give up a candidate that takes the target in without a person's work."""
        built = convoy.sync.candidate
        if self.target and built is not None and built.work != self.target:
            convoy = replace(convoy, sync=replace(convoy.sync, candidate=None))
        return super().convoy_after(convoy, now)

    def task_after(self, task: Task, now: Moment) -> Task:
        return replace(
            ended_session(task, now, self.usage),
            state="merged",
            why=self.why,
            landed=self.commit,
            on_target=self.target,
            stood_on=task.candidate.base if task.candidate else "",
            candidate=None,
            tips=(),
            ended_at=now.at,
        )


class TaskDropped(TaskEvent, frozen=True, kw_only=True, tag="task.dropped"):
    """The task will not be done."""

    SAYS = "Task {task} was dropped: {why:clause}."
    why: str
    wanted_by: str = ""
    """The person who decided it; empty: no one did."""

    def change(self, state: State) -> State:
        return super().change(_unopened(state, self.convoy, self.task))

    def task_after(self, task: Task, now: Moment) -> Task:
        return replace(
            task, state="dropped", why=self.why, candidate=None, ended_at=now.at
        )

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        """Free the tasks that waited only because both would have touched the same."""
        for task in convoy.tasks:
            if task.spec.overlaps(self.task):
                after = tuple(each for each in task.spec.after if each != self.task)
                waits = tuple(wait for wait in task.spec.waits if wait.on != self.task)
                free = replace(task.spec, after=after, waits=waits)
                convoy = change_part(convoy, task.number, spec=free)
        return super().convoy_after(convoy, now)


class ConvoyCompleted(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.completed"):
    """The convoy's pull request has landed."""

    SAYS = "The convoy landed as {commit:short}{why:told}."
    commit: str
    why: str = ""
    """What people should know about it; empty: nothing."""

    def change(self, state: State) -> State:
        return super().change(_unopened(state, self.convoy, 0))

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        return replace(
            convoy,
            state="complete",
            why=self.why,
            landed=self.commit,
            stood_on=convoy.candidate.base if convoy.candidate else "",
            candidate=None,
            ended_at=now.at,
        )


class ConvoyFailed(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.failed"):
    """The convoy was cancelled, could not be planned, or cannot continue."""

    SAYS = "The convoy {by:ended}: {why:clause}."
    why: str
    by: str = ""
    """The person who ended it; empty: no one did."""

    def decide(self, state: State) -> Events:
        """Give the convoy up; what is not merged is dropped."""
        dropped = (
            copied(TaskDropped, self, task=task.number)
            for task in self.live(state).spenders
            if not task.settled
        )
        told = known(self.convoy, self.by, FAILED_KEY)
        return (*dropped, self, *told, final_comment(self.convoy))

    def change(self, state: State) -> State:
        return super().change(_unopened(state, self.convoy, 0))

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        return replace(
            convoy,
            state="failed",
            why=self.why,
            given_up_by=self.by,
            candidate=None,
            ended_at=now.at,
        )


def _unopened(state: State, convoy: str, task: int) -> State:
    """Open no pull request any more for what has ended; task 0 is the convoy."""
    return state.without_intent(ids.key("pull", convoy, task))
