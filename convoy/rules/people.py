"""What people are called for, and how they stop work or take it up again.

Editing the convoy's comment notifies nobody; a new comment does. So people are called
once when something begins to wait for them, and not again while any of that still
waits: the convoy's comment lists the rest. Limits stop tasks, too.
"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from convoy import rules
from convoy.events import ConvoyCommand, Events, Refusal, TaskCommand, copied
from convoy.events.forge_actions import ActionIntended, pull_wanted
from convoy.events.people_events import (
    FAILED_KEY,
    ConvoyPaused,
    ConvoyRetried,
    PeopleCalled,
    blocked_key,
    known,
    lacking_approvals,
    paused_because,
)
from convoy.events.task_events import (
    ConvoyFailed,
    TaskBlocked,
    TaskDropped,
    TaskQueued,
    WorkRebased,
)
from convoy.kinds import is_done, is_stopped, kind_of, needed
from convoy.kinds.rivals import chosen_among
from convoy.model import ids
from convoy.model.state import Convoy, State, Task


class Need(Struct, frozen=True, kw_only=True):
    key: str
    """A key that stays the same as long as the need does; begins with its kind."""
    task: int = 0
    aside: ids.SetAside | None = None
    """What was refused."""

    @property
    def kind(self) -> str:
        return self.key.partition("/")[0]


def uncalled(state: State, convoy: Convoy) -> tuple[Need, ...]:
    """Return what to call people for now: everything that waits, or nothing."""
    needs = tuple(_needs(state, convoy))
    return () if any(need.key in convoy.called for need in needs) else needs


def _needs(state: State, convoy: Convoy) -> Iterator[Need]:
    if convoy.state == "failed" and (convoy.tasks or convoy.mayor):
        yield Need(key=FAILED_KEY)
    if convoy.ended or convoy.held:
        return
    # What is set aside, but what will go on by itself. The convoy's comment tells of
    # everything else that was refused, but cannot tell that its own change was.
    comment = state.set_aside.get(ids.item("show", convoy.name, "comment"))
    own = ((f"{task.number}", task.number, task.set_aside) for task in convoy.tasks)
    all_of_it = ("0", 0, convoy.set_aside), *own, ("comment", 0, comment)
    for what, number, aside in all_of_it:
        if aside is not None and not aside.again and not aside.passing:
            key = f"refused/{what}/{aside.rule}"
            yield Need(key=key, task=number, aside=aside)
    if convoy.sync.stalled:
        yield Need(key=f"landing/{convoy.sync.at}")
    planned = bool(convoy.tasks)
    # A plan out of the issue's own list is shown as soon as the comment is written.
    if convoy.state == "planning" and planned and convoy.mayor and not convoy.staged:
        yield Need(key="plan")
    if convoy.landing_waits and convoy.settled:
        yield Need(key=f"landing/{convoy.landing_waits}")
    for task in convoy.tasks:
        if is_stopped(convoy, task):
            yield Need(key=blocked_key(task), task=task.number)
            continue
        if task.state != "needs-review" or not (task.work and task.pull):
            continue
        is_out = task.held or task.withdrawn or task.taken_out
        if not is_out and lacking_approvals(convoy, task):  # it waits only for these
            key = f"approve/{task.number}/{task.work.commit[:10]}"
            yield Need(key=key, task=task.number)


class CallPeople(ConvoyCommand, frozen=True, kw_only=True):
    text: str
    now: int
    """Unix ms."""

    def decide(self, state: State) -> Events:
        convoy = self.known(state)
        needs = tuple(need.key for need in uncalled(state, convoy))
        if not needs:
            raise Refusal(f"everyone needed for {convoy.name} was notified")
        key = ids.sign_key("call", f"{convoy.name}/{self.now}")
        return (
            PeopleCalled(convoy=convoy.name, needs=needs),
            ActionIntended(key=key, kind="answer", issue=convoy.issue, text=self.text),
        )


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
