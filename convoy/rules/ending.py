"""How a session may end: in work, a report, a review, a choice, or in none of these.

It ends once, and only the current one. A task that was dropped or blocked meanwhile
keeps its session until the session ends, so that its slot and leases are not given away
before; its work is refused.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from convoy.events import (
    AttemptCommand,
    ConvoyCommand,
    Decision,
    Events,
    Refusal,
    copied,
    in_session,
    task_in,
)
from convoy.events.forge_actions import ActionIntended
from convoy.events.session_events import (
    SessionLost,
    TaskReported,
    WorkAccepted,
    WorkRefused,
    WorkReviewed,
)
from convoy.events.task_events import TaskBlocked, TaskMerged
from convoy.kinds import kind_of
from convoy.kinds.rivals import (
    ONLY_GREEN,
    choice_made,
    is_choice,
    is_open_choice,
    rivals_left,
    rivals_under_way,
)
from convoy.kinds.task_kinds import REVIEW, Stop
from convoy.model import ids
from convoy.model.records import Cause, Opinion, Report, Usage
from convoy.model.session_result import wait_ms
from convoy.model.state import State, Task
from convoy.rules import (
    convoy_next,
    leases_freed,
    pull_due,
    queued_again,
    stop_events,
    to_be_changed,
    too_late,
)

_UNTRIED: Final[frozenset[Cause]] = frozenset({"outage", "setup"})
"""Ends that say nothing about the work the session continued."""


SAID_MEANWHILE: Final = "someone commented on its work while it was running"


class AcceptWork(AttemptCommand, frozen=True, kw_only=True):
    """The gate let the attempt's commits through."""

    commit: str
    base: str
    files: tuple[str, ...]
    ci_files: tuple[str, ...] = ()
    """Those of them that tell CI what to run."""
    summary: str = ""
    usage: Usage = Usage()
    missing_walls: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    """Numbers of threads that its agent did not follow, each with the reason."""

    def decide(self, state: State) -> Decision:
        task = in_session(state, self.convoy, self.task, self.attempt)
        _check_work(task)
        if task.state != "running":
            return too_late(state, self.convoy, task, self.attempt, self.usage)
        accepted = copied(WorkAccepted, self)
        convoy = state.convoys[self.convoy]
        pull = pull_due(state, convoy, task, self.ci_files)
        free = leases_freed(state, self.convoy, task)
        late = any(each.is_open and each.since >= self.attempt for each in task.threads)
        again = to_be_changed(convoy, task, SAID_MEANWHILE) if late else ()
        return (accepted, *free, *pull, *self._answers(task), *again)

    def _answers(self, task: Task) -> Iterator[ActionIntended]:
        """Yield an answer for each thread that the attempt was told of."""
        why = decline_reasons(self.declined)
        for each in task.threads:
            if not each.is_told(self.attempt):
                continue
            declined = why.get(each.comment, "")
            key = ids.thread_key(self.convoy, self.task, self.attempt, each.comment)
            yield copied(
                ActionIntended,
                self,
                key=key,
                kind="thread",
                issue=each.pull or task.pull or 0,
                comment=each.comment,
                reaction="confused" if declined else "rocket",
                text=declined or self.commit,
            )


_DECLINED: Final = re.compile(r"\W*(\d{1,18})\W+(\S.*)")


def decline_reasons(declined: tuple[str, ...]) -> dict[int, str]:
    """Return why an agent did not follow threads, by the comments that began them."""
    found = (_DECLINED.fullmatch(each) for each in declined)
    return {int(each[1]): each[2] for each in found if each}


class AcceptNothing(AttemptCommand, frozen=True, kw_only=True):
    """There was nothing to do, and the acceptance command agrees."""

    usage: Usage = Usage()

    def decide(self, state: State) -> Decision:
        task = in_session(state, self.convoy, self.task, self.attempt)
        _check_work(task)
        if task.state != "running":
            return too_late(state, self.convoy, task, self.attempt, self.usage)
        if task.earlier is not None:
            return Refusal(f"task {task.number} has work that must be changed")
        if why := kind_of(task.spec).must_change(task.spec):
            return Refusal(f"task {task.number} {why}")
        merged = copied(TaskMerged, self)
        convoy = state.convoys[self.convoy]
        after = convoy_next(convoy, replace(task, state="merged"))
        return (*leases_freed(state, convoy.name, task), merged, *after)


class AcceptReport(AttemptCommand, frozen=True, kw_only=True):
    """The attempt ended in a valid report; the shell has checked and cleaned it."""

    report: Report
    usage: Usage = Usage()

    def decide(self, state: State) -> Decision:
        task = in_session(state, self.convoy, self.task, self.attempt)
        if kind_of(task.spec).answer != "report":
            return Refusal(f"task {task.number} does not end with a report")
        if task.state != "running":
            return too_late(state, self.convoy, task, self.attempt, self.usage)
        reported = copied(TaskReported, self)
        merged = copied(TaskMerged, self)
        convoy = state.convoys[self.convoy]
        after = convoy_next(convoy, replace(task, state="merged"))
        return (reported, *leases_freed(state, convoy.name, task), merged, *after)


_NUMBERS: Final = re.compile(r"\b[0-9a-f]*\d[\w.:+-]*")
HASTY_MS: Final = 30_000
"""An agent that fails within this time, twice alike, has not come to its work."""


class _EndInVain(AttemptCommand, frozen=True, kw_only=True):
    """An attempt ended without work that may land."""

    cause: Cause
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, kept for the next attempt; empty: none."""


class RefuseWork(_EndInVain, frozen=True, kw_only=True):
    """The attempt ended in something that may not land, or in nothing."""

    now: int = 0
    """Its time, unix ms; 0: unknown."""
    asked_s: float = 0.0
    """For an outage: the pause that the model's vendor asked for."""

    def decide(self, state: State) -> Decision:
        task = in_session(state, self.convoy, self.task, self.attempt)
        left = self.left or (_continued_work(task) if self.cause in _UNTRIED else "")
        refused = copied(WorkRefused, self, left=left)
        free = leases_freed(state, self.convoy, task)
        most = state.convoys[self.convoy].settings.attempts
        if task.spent < most and self._is_alike(task):
            why = f"two attempts failed in the same way within seconds: {self.why}"
            stop = Stop(why, last=self.why)
            ends = stop_events(state, self.convoy, task, stop, cause=self.cause)
            return (refused, *free, *ends)
        not_before = 0  # else when the model's vendor may be asked again
        if self.cause == "outage":
            session = task.attempt.session if task.attempt else ""
            pause_ms = wait_ms(session, task.outages + 1, self.asked_s)
            not_before = self.now + pause_ms
        then = queued_again(
            state,
            self.convoy,
            task,
            self.cause,
            self.why,
            not_before=not_before,
        )
        return (refused, *free, *then)

    def _is_alike(self, task: Task) -> bool:
        """Whether another attempt would only be paid for: nothing has changed."""
        if self.cause != "failed" or task.cause != "failed" or task.attempt is None:
            return False
        is_hasty = 0 < self.now < task.attempt.at + HASTY_MS
        alike = (_NUMBERS.sub("", why) for why in task.notes[-1:])
        said = _NUMBERS.sub("", self.why)  # a time or an id in it says nothing
        return is_hasty and task.state == "running" and said in alike


class LoseSession(_EndInVain, frozen=True, kw_only=True):
    """The session ended and left no result."""

    def decide(self, state: State) -> Decision:
        task = in_session(state, self.convoy, self.task, self.attempt)
        left = self.left or _continued_work(task)
        lost = copied(SessionLost, self, left=left)
        free = leases_freed(state, self.convoy, task)
        then = queued_again(state, self.convoy, task, self.cause, self.why)
        return (lost, *free, *then)


def _check_work(task: Task) -> None:
    """Refuse an attempt that cannot end in a change."""
    kind = kind_of(task.spec)
    if kind.answer:
        raise Refusal(f"task {task.number} must end with a {kind.answer}, not a change")


def _continued_work(task: Task) -> str:
    """Return the half-done work that the session continued; empty: none."""
    attempt = task.attempt
    return attempt.base if attempt is not None and attempt.salvaged else ""


class AcceptReview(AttemptCommand, frozen=True, kw_only=True):
    """The attempt ended in a verdict on another task's work."""

    verdict: Opinion
    text: str = ""
    usage: Usage = Usage()

    def decide(self, state: State) -> Decision:
        """Take a verdict; one on work that has changed meanwhile does not count."""
        task = in_session(state, self.convoy, self.task, self.attempt)
        if task.spec.kind != REVIEW.name:
            return Refusal(f"task {task.number} is not a review")
        if self.verdict == "changes" and not self.text:
            return Refusal("a review that requests changes must say which ones")
        attempt = task.attempt
        if task.state != "running" or attempt is None:
            return too_late(state, self.convoy, task, self.attempt, self.usage)
        [number] = task.spec.on
        reviewed = copied(WorkReviewed, self, on=number, commit=attempt.base)
        free = leases_freed(state, self.convoy, task)
        return (reviewed, *free, *_sent_back(state, self, task, attempt.base))


def _sent_back(
    state: State, command: AcceptReview, review: Task, commit: str
) -> Events:
    """Return what follows when a review asks for changes; the rounds are limited."""
    convoy = state.convoys[command.convoy]
    subject = convoy.task(review.spec.on[0])
    is_current = subject and subject.work and subject.work.commit == commit
    if command.verdict == "approve" or subject is None or not is_current:
        return ()
    if subject.state != "needs-review":
        return ()
    if review.rounds >= review.spec.rounds:
        rounds = "round" if review.spec.rounds == 1 else "rounds"
        why = (
            f"it requests changes again after {review.spec.rounds} {rounds}; drop "
            "the review to land the work as it is, or retry the review to continue: "
            f"{command.text}"
        )
        return (TaskBlocked(convoy=convoy.name, task=review.number, why=why),)
    why = f"the review by task {review.number} requests changes: {command.text}"
    return to_be_changed(convoy, subject, why)


class MakeChoice(ConvoyCommand, frozen=True, kw_only=True):
    """A rival is chosen to land: by an attempt that judged, or as the only one left."""

    task: int
    """The choice's own number."""
    attempt: int = 0
    """The attempt; 0: nobody judged."""
    on: int = 0
    """The rival; 0: the only one left."""
    text: str = ""
    usage: Usage = Usage()

    def decide(self, state: State) -> Decision:
        if not self.attempt:
            choice = task_in(state, self.convoy, self.task, "queued")
            convoy = state.convoys[self.convoy]
            left = rivals_left(convoy, choice)
            under_way = rivals_under_way(convoy, choice)
            if not is_open_choice(choice) or under_way or len(left) != 1:
                return Refusal(f"task {choice.number} cannot choose without a session")
            return choice_made(state, convoy, choice, left[0], ONLY_GREEN)
        task = in_session(state, self.convoy, self.task, self.attempt)
        if not is_choice(task):
            return Refusal(f"task {task.number} is not a choice")
        if task.state != "running":
            return too_late(state, self.convoy, task, self.attempt, self.usage)
        convoy = state.convoys[self.convoy]
        found = {rival.number: rival for rival in rivals_left(convoy, task)}
        if self.on not in found:
            return Refusal(f"task {self.on} is not a green rival")
        winner = found[self.on]
        events = choice_made(state, convoy, task, winner, self.text, usage=self.usage)
        return (*events, *leases_freed(state, convoy.name, task))
