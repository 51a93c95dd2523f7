"""How people stop work and take it up again. Limits stop tasks, too."""

from msgspec.structs import replace

from convoy import rules
from convoy.events import ConvoyCommand, Events, Refusal, TaskCommand, copied
from convoy.events.forge_actions import pull_wanted
from convoy.events.people_events import (
    FAILED_KEY,
    ConvoyPaused,
    ConvoyRetried,
    blocked_key,
    known,
    paused_because,
)
from convoy.events.task_events import (
    ConvoyFailed,
    TaskBlocked,
    TaskDropped,
    TaskQueued,
    WorkRebased,
)
from convoy.kinds import is_done, kind_of, needed
from convoy.kinds.rivals import chosen_among
from convoy.model.state import Convoy, State, Task


class BlockTask(TaskCommand, frozen=True, kw_only=True):
    why: str
    by: str = ""

    def decide(self, state: State) -> Events:
        """Wait for a person; its session, if it has one, still has to end."""
        convoy = self.live(state)
        task = convoy.in_session(self.task)
        if task is None:
            raise Refusal(f"{self.convoy} has no task {self.task}")
        if task.state not in ("queued", "running", "needs-review"):
            raise Refusal(f"task {self.task} is already {task.state}")
        if convoy.lands_given is not None:
            raise Refusal("it has no session to stop: use /brat cancel instead")
        rules.check_unused(convoy, task)
        blocked = copied(TaskBlocked, self, wanted_by=self.by)
        return (blocked, *known(convoy.name, self.by, blocked_key(task)))


class DeferTask(TaskCommand, frozen=True, kw_only=True):
    """The day's money is spent: the task waits until then (unix ms)."""

    until: int
    why: str

    def decide(self, state: State) -> Events:
        convoy = self.live(state)
        task = convoy.in_session(self.task)
        if task is None or task.state != "queued":
            raise Refusal(f"task {self.task} of {self.convoy} is not queued")
        if task.not_before >= self.until or task.attempt is not None:
            raise Refusal(f"task {task.number} is already waiting")
        return (copied(TaskQueued, self, cause="spent", not_before=self.until),)


class DropTask(TaskCommand, frozen=True, kw_only=True):
    """A person does not want the task any more."""

    why: str
    by: str = ""

    def decide(self, state: State) -> Events:
        """Settle the task undone; tasks that need it wait for a person."""
        convoy, task = self.planned(state)
        if task.settled:
            raise Refusal(f"task {self.task} of {self.convoy} is already done")
        rules.check_unused(convoy, task)
        dropped = copied(TaskDropped, self, wanted_by=self.by)
        then = rules.convoy_next(convoy, replace(task, state="dropped"))
        stuck = {event.task for event in then if isinstance(event, TaskBlocked)}
        keys = (blocked_key(other) for other in convoy.tasks if other.number in stuck)
        failed = (FAILED_KEY for event in then if isinstance(event, ConvoyFailed))
        return (dropped, *then, *known(convoy.name, self.why, *keys, *failed))


class RetryConvoy(ConvoyCommand, frozen=True, kw_only=True):
    """A person wants a convoy to go on that failed, or whose landing waits."""

    by: str

    def decide(self, state: State) -> Events:
        """Take the convoy up with its work, and what was dropped when it failed."""
        convoy = self.known(state)
        if convoy.state != "failed":
            if convoy.ended or not convoy.sync.stalled:
                raise Refusal(f"{convoy.name} is {convoy.state}, not failed")
            return (copied(ConvoyRetried, self),)
        if convoy.given is not None:
            verb = convoy.given.verb
            raise Refusal(f"to use the newest commit, say /brat {verb} again")
        for other in state.live():
            if other.issue == convoy.issue:
                by_now = f"a newer convoy, {other.name}"
                raise Refusal(f"issue #{convoy.issue} has {by_now}")
        if convoy.issue_is == "gone":
            raise Refusal(f"issue #{convoy.issue} was deleted or transferred")
        tasks = tasks_taken_up(convoy)
        if convoy.tasks and not tasks and not rules.holds_own_work(convoy):
            raise Refusal(f"nothing is left to do in {convoy.name}")
        numbers = tuple(task.number for task in tasks)
        retried = copied(ConvoyRetried, self, tasks=numbers)
        pulls: Events = ()  # those that were not opened because it failed
        if not tasks and rules.holds_own_work(convoy) and convoy.pull is None:
            pulls = pull_wanted(state, convoy.name, 0)
        for task in tasks:
            if task.work:
                pulls += rules.pull_due(state, convoy, task, task.work.ci_files)
        still = standstill(state, convoy) if convoy.tasks else ()
        return (retried, *pulls, *still)


def tasks_taken_up(convoy: Convoy) -> tuple[Task, ...]:
    """Return the dropped tasks that are taken up again with a convoy that failed.

    These were dropped when it failed; where it failed because each had been dropped,
    all but lost rivals. What needs a task that stays dropped stays so, too.
    """
    dropped = [task for task in convoy.tasks if task.state == "dropped"]
    found = {task.number: task for task in dropped if task.why == convoy.why}
    if not found and not any(task.landed for task in convoy.tasks):
        own = {t.number: t for t in dropped if not is_done(convoy, t)}
        found = {n: t for n, t in own.items() if chosen_among(convoy, n) in (0, n)}
    gone = {task.number for task in dropped} - found.keys()
    needs = {n: {*task.spec.after, *needed(task.spec)} for n, task in found.items()}
    while lost := {n for n in found if gone & needs[n]}:
        gone |= lost
        found = {n: task for n, task in found.items() if n not in lost}
    return tuple(found.values())


def standstill(state: State, convoy: Convoy) -> Events:
    """Pause a convoy that would become active while everything is paused."""
    if not state.paused_by:
        return ()
    why = paused_because(state.paused_by)
    return (ConvoyPaused(convoy=convoy.name, by=state.paused_by, why=why),)


class RebaseWork(TaskCommand, frozen=True, kw_only=True):
    """The work `old` was rebased for a person."""

    old: str
    commit: str
    base: str
    by: str

    def decide(self, state: State) -> Events:
        """Accept the same work on another base; it needs approval again."""
        convoy, task = self.task_in(state, "needs-review")
        rules.check_unjudged(convoy, task)
        if kind_of(task.spec).takes_target_in:
            raise Refusal(
                f"task {self.task} is a merge of {convoy.target} and cannot be rebased"
            )
        if task.work is None or task.work.commit != self.old:
            raise Refusal(f"the work of task {self.task} has changed")
        if task.work.base == self.base:
            raise Refusal(f"task {self.task} is already based on {self.base[:10]}")
        if self.base not in convoy.tips:  # else it could land with the work
            raise Refusal(f"nobody has accepted the push of {self.base[:10]}")
        return (copied(WorkRebased, self),)
