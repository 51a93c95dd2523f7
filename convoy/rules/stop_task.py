"""How people and limits stop a task or a convoy, and let a task go on."""

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, live, task_in
from convoy.events.task_ends import ConvoyFailed, TaskDropped
from convoy.events.task_queue import TaskBlocked, TaskQueued
from convoy.gate import unallowed, wants
from convoy.kinds import kind_of
from convoy.kinds.relations import needed, relief
from convoy.kinds.task_kind import Stop
from convoy.model.state import State
from convoy.readiness.needs import FAILED, blocked_key
from convoy.rules.consequences import convoy_next, finish, in_use, known, stopped


class FailConvoy(Command, frozen=True, kw_only=True):
    """Give the convoy up; what is not merged is dropped."""

    convoy: str
    why: str
    by: str = ""
    """The person who wants it; empty: no person does."""

    def decide(self, state: State) -> Decision:
        """Give the convoy up; what is not merged is dropped."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        dropped = (
            TaskDropped(convoy=convoy.name, task=task.number, why=self.why)
            for task in convoy.spenders
            if not task.settled
        )
        return (
            *dropped,
            ConvoyFailed(convoy=convoy.name, why=self.why, by=self.by),
            *known(convoy.name, self.by, FAILED),
            finish(convoy.name),
        )


class BlockTask(Command, frozen=True, kw_only=True):
    """Only a person can help."""

    convoy: str
    task: int
    why: str
    by: str = ""
    """The person who stopped it; empty: no person did."""
    splits: bool = False
    """Whether it is too much for one agent."""

    def decide(self, state: State) -> Decision:
        """Wait for a person; its session, if it has one, still has to end."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        task = convoy.in_session(self.task)
        if task is None or task.state not in ("queued", "running", "needs-review"):
            return Refusal(f"task {self.task} of {self.convoy} cannot be blocked")
        if used := in_use(convoy, task):
            return used
        stop = Stop(self.why)
        blocked = tuple(
            replace(event, wanted_by=self.by)
            if isinstance(event, TaskBlocked) and event.task == task.number
            else event
            for event in stopped(state, convoy.name, task, stop, splits=self.splits)
        )
        return (*blocked, *known(convoy.name, self.by, blocked_key(task)))


class DeferTask(Command, frozen=True, kw_only=True):
    """The day's money is spent: the task waits until then (unix ms)."""

    convoy: str
    task: int
    until: int
    why: str

    def decide(self, state: State) -> Decision:
        """Let a task that could start wait until the next day's money."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        task = convoy.in_session(self.task)
        if task is None or task.state != "queued":
            return Refusal(f"task {self.task} of {self.convoy} is not queued")
        if task.not_before >= self.until or task.attempt is not None:
            return Refusal(f"task {task.number} waits already")
        queued = TaskQueued(
            convoy=self.convoy,
            task=task.number,
            cause="spent",
            why=self.why,
            not_before=self.until,
        )
        return (queued,)


class RetryTask(Command, frozen=True, kw_only=True):
    """A person wants a blocked task tried again, with all its attempts."""

    convoy: str
    task: int
    by: str

    def decide(self, state: State) -> Decision:
        """Queue a blocked task with all its attempts; it is told why it stopped."""
        task = task_in(state, self.convoy, self.task, "blocked")
        if isinstance(task, Refusal):
            return task
        convoy = state.convoys[self.convoy]
        dropped = [t.number for t in convoy.tasks if t.state == "dropped"]
        before = (*task.spec.after, *needed(task.spec))
        if lost := [number for number in before if number in dropped]:
            return Refusal(
                f"task {task.number} needs task {lost[0]}, which was dropped: "
                "drop it too"
            )
        if paths := unallowed(task, convoy.settings.gate):
            return Refusal(f"task {task.number} waits: {wants(task.number, paths)}")
        kind = kind_of(task.spec)
        if why := kind.retry_fault(convoy, task):
            return Refusal(why)
        again = (*kind.retried_with(convoy, task), task)
        other, found = relief(convoy, task) or (None, None)
        whole = f"task {task.number} is tried again as it is"
        return (
            *(
                TaskQueued(
                    convoy=convoy.name,
                    task=each.number,
                    cause="retry",
                    why=each.why,
                    wanted_by=self.by,
                )
                for each in again
            ),
            *(
                (TaskDropped(convoy=convoy.name, task=other.number, why=whole),)
                if other is not None and found is not None and found.replaces
                else ()
            ),
        )


class DropTask(Command, frozen=True, kw_only=True):
    """A person does not want the task any more."""

    convoy: str
    task: int
    why: str
    by: str = ""
    """The person who does not want it; empty: nobody said so."""

    def decide(self, state: State) -> Decision:
        """Settle the task undone; tasks that need it wait for a person."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        task = convoy.task(self.task)
        if task is None or task.settled:
            return Refusal(f"task {self.task} of {self.convoy} is settled already")
        if used := in_use(convoy, task):
            return used
        dropped = TaskDropped(
            convoy=convoy.name, task=task.number, why=self.why, wanted_by=self.by
        )
        then = convoy_next(convoy, replace(task, state="dropped"))
        stuck = {event.task for event in then if isinstance(event, TaskBlocked)}
        keys = (blocked_key(other) for other in convoy.tasks if other.number in stuck)
        failed = (FAILED for event in then if isinstance(event, ConvoyFailed))
        return (dropped, *then, *known(convoy.name, self.why, *keys, *failed))
