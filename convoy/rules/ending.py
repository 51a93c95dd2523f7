"""How a session may end: in work, a report, a review, a choice, or in none of these."""

import re
from abc import abstractmethod
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from convoy import rules
from convoy.events import AttemptCommand, Event, Events, Refusal, copied
from convoy.events.forge_actions import ActionIntended
from convoy.events.leases import freed
from convoy.events.session_events import (
    SessionLost,
    TaskReported,
    WorkAccepted,
    WorkRefused,
    WorkReviewed,
)
from convoy.events.task_events import TaskBlocked, TaskMerged
from convoy.kinds import kind_of, rivals
from convoy.kinds.task_kinds import REVIEW, looked_at
from convoy.model import ids
from convoy.model.records import CAUSES, Cause, Opinion, Report, Usage
from convoy.model.session_result import wait_ms
from convoy.model.state import Convoy, State, Task
from convoy.model.work import Attempt
from convoy.rules import retries
from convoy.text import counted


def _leases_freed(state: State, ended: AttemptCommand) -> Events:
    holder = ids.session_name(ended.convoy, ended.task, ended.attempt)
    return freed(each for each in state.leases.values() if each.holder == holder)


SAID_MEANWHILE: Final = "someone commented on its work while it was running"


class _EndInResult(AttemptCommand, frozen=True, kw_only=True):
    """An attempt ended in something that counts if its task still runs."""

    usage: Usage = Usage()

    def decide(self, state: State) -> Events:
        """End the session; its leases are free, even if the result comes too late."""
        convoy, task, _ = self.in_session(state, self.attempt)
        self.check(task)
        if task.state == "running":
            ended, then = self.ends(state, convoy, task)
        else:
            why = f"the task is now {task.state}"
            ended, then = (copied(WorkRefused, self, why=why),), ()
        return (*ended, *_leases_freed(state, self), *then)

    def check(self, task: Task) -> None:
        """Refuse an attempt that cannot end so; this one must end in a change."""
        if answer := kind_of(task.spec).answer:
            raise Refusal(f"task {task.number} must end with a {answer}, not a change")

    @abstractmethod
    def ends(self, state: State, convoy: Convoy, task: Task) -> tuple[Events, Events]:
        """Return how it ends, and what follows once its leases are free."""

    def merged(self, convoy: Convoy, task: Task) -> Events:
        after = rules.convoy_next(convoy, replace(task, state="merged"))
        return (copied(TaskMerged, self), *after)


class AcceptWork(_EndInResult, frozen=True, kw_only=True):
    """The gate let the attempt's commits through."""

    commit: str
    base: str
    files: tuple[str, ...]
    ci_files: tuple[str, ...] = ()
    summary: str = ""
    missing_walls: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    """Numbers of threads that its agent did not follow, each with the reason."""

    def ends(self, state: State, convoy: Convoy, task: Task) -> tuple[Events, Events]:
        pull = rules.pull_due(state, convoy, task, self.ci_files)
        late = any(each.is_open and each.since >= self.attempt for each in task.threads)
        again = retries.to_be_changed(convoy, task, SAID_MEANWHILE) if late else ()
        return (copied(WorkAccepted, self),), (*pull, *self._answers(task), *again)

    def _answers(self, task: Task) -> Iterator[ActionIntended]:
        """Yield an answer for each thread that the attempt was told of."""
        why = decline_reasons(self.declined)
        for each in task.threads:
            if not each.is_told(self.attempt):
                continue
            declined = why.get(each.comment, "")
            key = ids.key("thread", self.convoy, self.task, self.attempt, each.comment)
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


class AcceptNothing(_EndInResult, frozen=True, kw_only=True):
    """There was nothing to do, and the acceptance command agrees."""

    def ends(self, _state: State, convoy: Convoy, task: Task) -> tuple[Events, Events]:
        if task.earlier is not None:
            raise Refusal(f"task {task.number} has work that must be changed")
        if why := kind_of(task.spec).must_change(task.spec):
            raise Refusal(f"task {task.number} {why}")
        return (), self.merged(convoy, task)


class AcceptReport(_EndInResult, frozen=True, kw_only=True):
    """The attempt ended in a valid report; the shell has checked and cleaned it."""

    report: Report

    def check(self, task: Task) -> None:
        if kind_of(task.spec).answer != "report":
            raise Refusal(f"task {task.number} does not end with a report")

    def ends(self, _state: State, convoy: Convoy, task: Task) -> tuple[Events, Events]:
        return (copied(TaskReported, self),), self.merged(convoy, task)


_NUMBERS: Final = re.compile(r"\b[0-9a-f]*\d[\w.:+-]*")
HASTY_MS: Final = 30_000
"""An agent that fails within this time, twice alike, has not come to its work."""


class RefuseWork(AttemptCommand, frozen=True, kw_only=True):
    """The attempt ended in something that may not land, or in nothing."""

    cause: Cause
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, kept for the next attempt; empty: none."""
    protected: tuple[str, ...] = ()
    """The protected paths that it changed."""
    now: int = 0
    """Its time, unix ms; 0: unknown."""
    asked_s: float = 0.0
    """For an outage: the pause that the model's vendor asked for."""

    def decide(self, state: State) -> Events:
        convoy, task, began = self.in_session(state, self.attempt)
        left = self.left
        if not left and CAUSES[self.cause].goes_on and began.salvaged:
            left = began.base
        refused, free = self.ended(left), _leases_freed(state, self)
        not_before = 0  # else when the model's vendor may be asked again
        if self.cause == "outage":
            pause_ms = wait_ms(began.session, task.outages + 1, self.asked_s)
            not_before = self.now + pause_ms
        then = retries.queued_again(
            state,
            convoy,
            task,
            self.cause,
            self.why,
            not_before=not_before,
            is_alike=self._is_alike(task, began),
        )
        return (refused, *free, *then)

    def ended(self, left: str) -> Event:
        return copied(WorkRefused, self, left=left)

    def _is_alike(self, task: Task, began: Attempt) -> bool:
        """Whether another attempt would only be paid for: nothing has changed."""
        if self.cause != "failed" or task.cause != "failed":
            return False
        is_hasty = 0 < self.now < began.at + HASTY_MS
        alike = (_NUMBERS.sub("", why) for why in task.notes[-1:])
        said = _NUMBERS.sub("", self.why)  # a time or an id in it says nothing
        return is_hasty and task.state == "running" and said in alike


class LoseSession(RefuseWork, frozen=True, kw_only=True):
    """The session ended and left no result."""

    def ended(self, left: str) -> Event:
        return copied(SessionLost, self, left=left)


class AcceptReview(_EndInResult, frozen=True, kw_only=True):
    """The attempt ended in a verdict on another task's work."""

    verdict: Opinion
    text: str = ""

    def check(self, task: Task) -> None:
        if task.spec.kind != REVIEW.name:
            raise Refusal(f"task {task.number} is not a review")
        if self.verdict == "changes" and not self.text:
            raise Refusal("a review that requests changes must say which ones")

    def ends(self, _state: State, convoy: Convoy, task: Task) -> tuple[Events, Events]:
        """Take a verdict; one on work that has changed meanwhile does not count."""
        [number] = task.spec.on
        commit = task.attempt.base if task.attempt else ""
        reviewed = copied(WorkReviewed, self, on=number, commit=commit)
        subject = looked_at(convoy, task)
        is_current = subject and subject.work and subject.work.commit == commit
        if self.verdict == "approve" or subject is None or not is_current:
            return (reviewed,), ()
        if task.rounds < task.spec.rounds:
            why = f"the review by task {task.number} requests changes: {self.text}"
            return (reviewed,), retries.to_be_changed(convoy, subject, why)
        why = (
            f"it requests changes again after {counted(task.spec.rounds, 'round')}; "
            "drop the review to land the work as it is, or retry the review to "
            f"continue: {self.text}"
        )
        return (reviewed,), (copied(TaskBlocked, self, why=why),)


class MakeChoice(_EndInResult, frozen=True, kw_only=True):
    """A rival is chosen to land: by an attempt that judged, or as the only one left."""

    attempt: int = 0
    """The attempt; 0: nobody judged."""
    on: int = 0
    """The rival; 0: the only one left."""
    text: str = ""

    def decide(self, state: State) -> Events:
        if self.attempt:
            return super().decide(state)
        convoy, choice = self.task_in(state, "queued")
        left = rivals.rivals_left(convoy, choice)
        under_way = rivals.rivals_under_way(convoy, choice)
        if not rivals.is_open_choice(choice) or under_way or len(left) != 1:
            raise Refusal(f"task {choice.number} cannot choose without a session")
        return rivals.choice_made(state, convoy, choice, left[0], rivals.ONLY_GREEN)

    def check(self, task: Task) -> None:
        if not rivals.is_choice(task):
            raise Refusal(f"task {task.number} is not a choice")

    def ends(self, state: State, convoy: Convoy, task: Task) -> tuple[Events, Events]:
        found = {rival.number: rival for rival in rivals.rivals_left(convoy, task)}
        if self.on not in found:
            raise Refusal(f"task {self.on} is not a green rival")
        winner, used = found[self.on], self.usage
        return rivals.choice_made(
            state, convoy, task, winner, self.text, usage=used
        ), ()
