"""What people say about a convoy: pause and go on, approve, try again, a message.

Where something is paused, running sessions end and land as usual; nothing new starts,
and while everything is paused nothing new is accepted. An approval of work holds for
one commit; newer work needs approval again. Whoever asked for the work does not count;
who wrote instructions for it does, but not alone: somebody else has to look at it. Work
that changes what judges it needs a person even where no approval is asked for.
"""

from msgspec.structs import replace

from convoy.events import (
    ConvoyCommand,
    ConvoyEvent,
    Event,
    Events,
    Refusal,
    TaskEvent,
    clause,
    copied,
)
from convoy.gate import path_list
from convoy.model import ids
from convoy.model.state import Convoy, Moment, State, Task
from convoy.model.work import Approval, Message, ReviewThread
from convoy.text import counted


class RepositoryPaused(Event, frozen=True, kw_only=True, tag="repository.paused"):
    """A person paused everything: nothing new starts or is accepted."""

    SAYS = "{by} paused everything."
    by: str

    def decide(self, state: State) -> Events:
        """Pause every convoy, including those to come."""
        if state.paused_by:
            raise Refusal(f"{state.paused_by} already paused everything")
        why = paused_because(self.by)
        active = (each for each in state.live() if each.state == "active")
        paused = (ConvoyPaused(convoy=c.name, by=self.by, why=why) for c in active)
        return (self, *paused)

    def change(self, state: State) -> State:
        return replace(state, paused_by=self.by)


class RepositoryResumed(Event, frozen=True, kw_only=True, tag="repository.resumed"):
    """A person resumed everything."""

    SAYS = "{by} resumed everything."
    by: str

    def decide(self, state: State) -> Events:
        """Let every convoy go on, and new ones start.

        One whose issue is closed waits on: that was said of it alone.
        """
        resumed: Events = tuple(
            ConvoyResumed(convoy=convoy.name, by=self.by)
            for convoy in state.live()
            if convoy.state == "paused" and not convoy.issue_closed
        )
        if state.paused_by:
            return (self, *resumed)
        if not resumed:
            raise Refusal("nothing is paused")
        return resumed

    def change(self, state: State) -> State:
        return replace(state, paused_by="", failures=0)


class ConvoyPaused(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.paused"):
    """The convoy was paused: nothing new starts until it is resumed."""

    SAYS = "{by} paused the convoy{why:told}."
    by: str
    why: str = ""
    """The reason, if the bot did it automatically."""

    def decide(self, state: State) -> Events:
        self.in_state(state, "active")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, state="paused", why=self.why)


class ConvoyResumed(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.resumed"):
    """The convoy was resumed."""

    SAYS = "{by} resumed the convoy."
    by: str

    def decide(self, state: State) -> Events:
        """Resume a convoy, also one whose issue is closed."""
        convoy = self.live(state)
        if convoy.state != "paused" and not convoy.issue_closed:
            raise Refusal(f"{convoy.name} is {convoy.state}, not paused")
        return (self,)

    def change(self, state: State) -> State:
        return super().change(state).without_failures()

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        state = "active" if convoy.state == "paused" else convoy.state
        return replace(
            convoy,
            state=state,
            why="",
            vouched_by=self.by,
            vouched_in=0,
            issue_is="overruled" if convoy.issue_closed else convoy.issue_is,
            base_is="wanted" if convoy.base_is == "deleted" else convoy.base_is,
        )


def paused_because(by: str) -> str:
    return f"{by} paused everything in this repository"


def check_unpaused(state: State) -> None:
    """Refuse to begin anything new while everything is paused."""
    if state.paused_by:
        why = paused_because(state.paused_by)
        raise Refusal(f"{why}: say `/brat resume all`, then ask again")


class ConvoyRetried(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.retried"):
    """The convoy was retried; it continues with the work it already had."""

    SAYS = "{by} resumed the convoy{tasks:numbers}."
    by: str
    tasks: tuple[int, ...] = ()
    """The tasks that were dropped with it and now resume."""

    def change(self, state: State) -> State:
        going_on = state.without_intent(ids.key("finish", self.convoy))
        return super().change(going_on).without_failures()

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        sync = replace(convoy.sync, candidate=None, reds=0, left="", stalled="")
        goes_on = replace(convoy, sync=sync, candidate=None, called=())
        if not convoy.ended:
            return goes_on
        waits = convoy.waits_for_approval and not convoy.vouched_by
        is_planned = bool(convoy.tasks) and not waits
        tasks = (
            task_again(task) if task.number in self.tasks else task
            for task in convoy.tasks
        )
        mayor = convoy.mayor
        if mayor is not None and not convoy.tasks and mayor.state == "dropped":
            mayor = task_again(mayor)
        return replace(
            goes_on,
            state="active" if is_planned else "planning",
            why="",
            given_up_by="",
            ended_at=0,
            tasks=tuple(tasks),
            mayor=mayor,
            vouched_by=self.by if is_planned else convoy.vouched_by,
            vouched_in=0 if is_planned else convoy.vouched_in,
            base_is="wanted" if convoy.base_is == "deleted" else convoy.base_is,
        )


def task_again(task: Task) -> Task:
    """Return a task as it was before it was dropped; work in review stays work."""
    return replace(
        task,
        state="needs-review" if task.work is not None else "queued",
        cause="retry",
        why="",
        spent=0,
        rounds=0,
        ended_at=0,
        not_before=0,
    )


class ConvoyApproved(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.approved"):
    """The plan was approved, so the waiting convoy is now active."""

    SAYS = "{by} approved the plan."
    by: str
    comment: int = 0
    """The comment with the approval; 0: it was a ticked box or a button."""

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(
            convoy, state="active", vouched_by=self.by, vouched_in=self.comment
        )


class TaskApproved(TaskEvent, frozen=True, kw_only=True, tag="task.approved"):
    """Someone approved the task's work at this commit."""

    SAYS = "{by} approved commit {commit:short} of task {task}."
    commit: str
    by: str
    review: int = 0
    """The review with the approval; 0: it was not a review."""
    comment: int = 0
    """The comment with the approval; 0: it was not a comment."""

    def decide(self, state: State) -> Events:
        """Count an approval of the current work, once a person; complete its commit."""
        convoy, task = self.task_in(state, "needs-review")
        asked = convoy.settings.approvals
        if not asked and not changes_ci(task):
            raise Refusal("no approval is required: green work merges automatically")
        if asked and self.by.casefold() == convoy.by.casefold():
            raise Refusal("whoever requested the work cannot approve it")
        if self.by.casefold() in map(str.casefold, task.approved_by):
            raise Refusal(f"{self.by} has already approved it")
        heads = _heads(task)  # the work, or the candidate that carries it
        commit = next((head for head in heads if head.startswith(self.commit)), None)
        if commit is None:
            now = heads[0][:10] if heads else "no commit"
            raise Refusal(f"task {task.number} is at {now}, not at {self.commit[:10]}")
        return (replace(self, commit=commit),)

    def task_after(self, task: Task, _now: Moment) -> Task:
        if self.commit not in _heads(task):
            return task  # no rule of ours approves what is not there
        approval = copied(Approval, self)
        return replace(task, approvals=(*task.approvals, approval))


def lacking_approvals(convoy: Convoy, task: Task) -> str:
    """Return the approvals that the work lacks, in words; empty: none."""
    if convoy.lands_given is not None:
        return ""  # a person's work: the rules of its target say who approves it
    wanted = convoy.settings.approvals
    if (short := wanted - len(task.approvals)) > 0:
        return f"{short} more approval{'s' if short > 1 else ''} of its work"
    authors = {by.casefold() for by in task.instructed_by}
    if wanted and all(each.by.casefold() in authors for each in task.approvals):
        return "an approval from someone who did not instruct its agent"
    if not task.approvals and (changed := changes_ci(task)):
        return f"an approval, because it changes what CI runs: {changed}"
    return ""


def changes_ci(task: Task) -> str:
    """Return the files of its work that tell CI what to run, in words; empty: none."""
    return path_list(task.work.ci_files if task.work is not None else ())


class ApprovalVoided(TaskEvent, frozen=True, kw_only=True, tag="approval.voided"):
    """An approval no longer counts, although the work has not changed."""

    SAYS = "{by}'s approval of task {task} no longer counts: {why:clause}."
    by: str
    """Whose approval it was."""
    why: str

    def decide(self, state: State) -> Events:
        _, task = self.task_in(state, "needs-review")
        if self.by not in task.approved_by:
            raise Refusal(f"{self.by} has not approved it")
        return (self,)

    def task_after(self, task: Task, _now: Moment) -> Task:
        left = tuple(each for each in task.approvals if each.by != self.by)
        return replace(task, approvals=left, candidate=None)


class ApprovePlan(ConvoyCommand, frozen=True, kw_only=True):
    by: str
    comment: int = 0
    staged: bool = False
    """Whether the repository's configuration says now that nothing may start."""

    def decide(self, state: State) -> Events:
        convoy = self.in_state(state, "planning")
        if not convoy.tasks:
            raise Refusal(f"{convoy.name} has no plan yet")
        check_unpaused(state)
        if convoy.given and self.by.casefold() != convoy.given.author.casefold():
            raise Refusal(
                f"the branch belongs to {convoy.given.author}, who must agree first; "
                "[fix] authors lists the accounts that are not asked"
            )
        if convoy.staged and self.staged:
            raise Refusal(
                "this repository is staged, so nothing starts: remove `staged = "
                "true` from `.brat/config.toml` on the default branch, then approve"
            )
        return (copied(ConvoyApproved, self),)


def _heads(task: Task) -> list[str]:
    return [each.commit for each in (task.work, task.candidate) if each is not None]


class TaskTold(TaskEvent, frozen=True, kw_only=True, tag="task.told"):
    """A person sent a message to the task's current and future agents."""

    SAYS = "{by} told task {task}: {text:clause}."
    by: str
    text: str
    """The message, cleaned."""

    def decide(self, state: State) -> Events:
        self.unsettled(state)
        return (self,)

    def task_after(self, task: Task, _now: Moment) -> Task:
        attempt = task.attempt
        if attempt is not None:
            said = Message(by=self.by, text=self.text)
            attempt = replace(attempt, messages=(*attempt.messages, said))
        notes = (*task.notes, f"{self.by} says: {self.text}")
        told = task.after_words_of(self.by)
        return replace(told, notes=notes, attempt=attempt)


class ThreadsRaised(TaskEvent, frozen=True, kw_only=True, tag="threads.raised"):
    """A person, or a bot listed in `[review] bots`, commented on lines of the work."""

    threads: tuple[ReviewThread, ...]
    """Where each thread is, who wrote in it, and a digest of what they wrote."""

    def sentence(self) -> str:
        places = dict.fromkeys(f"{each.path}:{each.line}" for each in self.threads)
        by = ", ".join(dict.fromkeys(each.by for each in self.threads))
        return f"{by} commented on {clause(', '.join(places))} in task {self.task}."

    def task_after(self, task: Task, _now: Moment) -> Task:
        found = {each.comment: each for each in task.threads}
        for each in self.threads:
            before = found.get(each.comment)
            times = before.times + 1 if before else 1
            found[each.comment] = replace(each, since=task.started, times=times)
        return replace(task, threads=tuple(found.values()))


class TaskHeard(TaskEvent, frozen=True, kw_only=True, tag="task.heard"):
    """The running attempt's engine received messages that people had sent."""

    attempt: int
    messages: int
    """How many messages sent during the attempt it has received so far."""

    def sentence(self) -> str:
        return (
            f"The engine of task {self.task}, attempt {self.attempt}, has received "
            f"{counted(self.messages, 'message')} from people."
        )

    def decide(self, state: State) -> Events:
        _, task, now = self.in_session(state, self.attempt)
        if not now.heard < self.messages <= len(now.messages):
            raise Refusal(f"task {task.number} has no such message")
        return (self,)

    def task_after(self, task: Task, _now: Moment) -> Task:
        attempt = task.attempt and replace(task.attempt, heard=self.messages)
        return replace(task, attempt=attempt)


class PeopleCalled(ConvoyEvent, frozen=True, kw_only=True, tag="people.called"):
    """People have been told what is waiting for them, or caused it themselves."""

    SAYS = "People were notified of pending decisions: {needs:list}."
    needs: tuple[str, ...]
    """The keys of the pending decisions, such as `blocked/3/2`."""

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, called=(*convoy.called, *self.needs))


FAILED_KEY = "failed"
"""The key of the need of a failed convoy."""


def blocked_key(task: Task) -> str:
    return f"blocked/{task.number}/{task.started}"


def known(convoy: str, by: str, *needs: str) -> tuple[PeopleCalled, ...]:
    """Call nobody for what a person did; `by` empty: no person did it."""
    return (PeopleCalled(convoy=convoy, needs=needs),) if by and needs else ()
