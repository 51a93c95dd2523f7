"""What people keep from merging: by words, by labels, and by what they do by hand.

Held work has no candidate: CI need not judge it, and candidates behind it in the queue
are built without it. Work is taken out by closing its pull request, deleting its branch
or changing its base; it neither starts nor merges, but keeps all that it has, and only
the same person's hands bring it back. A closed issue pauses its convoy until somebody
reopens it or says that it goes on. So does a deleted shared branch, and no work is lost
with it: each landed commit is kept by the branch of its task.
"""

from typing import Any, Final, Literal

from msgspec.structs import replace

from convoy.events import (
    SHORT,
    ConvoyCommand,
    ConvoyEvent,
    Decision,
    Refusal,
    TaskCommand,
    clause,
    live,
    subject,
    unsettled,
)
from convoy.events.forge_actions import ActionIntended
from convoy.model import ids
from convoy.model.ids import show_item
from convoy.model.state import Convoy, ConvoyState, Moment, State, Task, change_task
from convoy.model.work import Gesture, Push, TakenOut


def change_part(convoy: Convoy, task: int, **fields: Any) -> Convoy:  # noqa: ANN401
    """Change a task, or with 0 the convoy; both have the fields of a hold."""
    if not task:
        return replace(convoy, **fields)
    return change_task(convoy, task, lambda each: replace(each, **fields))


class MergeWithdrawn(ConvoyEvent, frozen=True, kw_only=True, tag="merge.withdrawn"):
    """A person took a task out of the merge queue; task 0 is the convoy itself."""

    task: int
    by: str

    def sentence(self) -> str:
        return f"{self.by} took {subject(self.task)} out of the merge queue."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_part(
            convoy, self.task, withdrawn=True, put_back_by="", candidate=None
        )


class MergeRequested(ConvoyEvent, frozen=True, kw_only=True, tag="merge.requested"):
    """A person put a task back into the merge queue; task 0 is the convoy itself."""

    task: int
    by: str

    def sentence(self) -> str:
        return f"{self.by} put {subject(self.task)} into the merge queue."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if not self.task:  # the forge may have to be asked again
            convoy = replace(convoy, asked="")
        return change_part(convoy, self.task, withdrawn=False, put_back_by=self.by)


HOLD_LABEL: Final = "brat:hold"
"""Nothing of the issue's convoy, or of the pull request's task, starts or merges."""
NO_LABEL: Final = "brat:no"
"""The bot never acts on this issue or pull request."""


class WorkHeld(ConvoyEvent, frozen=True, kw_only=True, tag="work.held"):
    """A label keeps this from starting and merging; task 0: the convoy."""

    task: int
    label: str
    """The label, such as `brat:hold`."""

    def sentence(self) -> str:
        return f"The label {clause(self.label)} holds {subject(self.task)}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        held = change_part(convoy, self.task, held=self.label, candidate=None)
        if self.task:
            return held
        tasks = tuple(replace(task, candidate=None) for task in held.tasks)
        return replace(held, tasks=tasks)


class WorkReleased(ConvoyEvent, frozen=True, kw_only=True, tag="work.released"):
    """The label was removed; task 0: the convoy's."""

    task: int

    def sentence(self) -> str:
        return f"No label holds {subject(self.task)} any more."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_part(convoy, self.task, held="")


class WithdrawMerge(TaskCommand, frozen=True, kw_only=True):
    """A person wants a task out of the merge queue; task 0 is the convoy itself."""

    by: str

    def decide(self, state: State) -> Decision:
        part = held_part(state, self.convoy, self.task)
        if part.withdrawn:
            return Refusal("it is not in the merge queue")
        return (MergeWithdrawn(convoy=self.convoy, task=self.task, by=self.by),)


class RequestMerge(TaskCommand, frozen=True, kw_only=True):
    """A person wants a task back in the merge queue; task 0 is the convoy itself."""

    by: str

    def decide(self, state: State) -> Decision:
        part = held_part(state, self.convoy, self.task)
        if part.taken_out is not None:
            out = part.taken_out
            return Refusal(f"{out.why}: it waits for {out.back}")
        if not part.withdrawn:
            return Refusal("it merges by itself when it is green and approved")
        return (MergeRequested(convoy=self.convoy, task=self.task, by=self.by),)


class HoldWork(TaskCommand, frozen=True, kw_only=True):
    """A label keeps this from starting and merging; task 0: the convoy."""

    label: str

    def decide(self, state: State) -> Decision:
        part = held_part(state, self.convoy, self.task)
        if part.held == self.label:
            return Refusal(f"{self.label} holds it already")
        return (WorkHeld(convoy=self.convoy, task=self.task, label=self.label),)


class ReleaseWork(TaskCommand, frozen=True, kw_only=True):
    """The label was removed; task 0: the convoy's."""

    def decide(self, state: State) -> Decision:
        part = held_part(state, self.convoy, self.task)
        if not part.held:
            return Refusal("no label holds it")
        return (WorkReleased(convoy=self.convoy, task=self.task),)


def held_part(state: State, name: str, number: int) -> Convoy | Task:
    """Return a task that is not settled, or with 0 the convoy; it has not ended."""
    return unsettled(state, name, number) if number else live(state, name)


class WorkTakenOut(ConvoyEvent, frozen=True, kw_only=True, tag="work.taken-out"):
    """A person took a task's work out on the forge; task 0 is the convoy itself."""

    task: int
    gesture: Gesture
    """What was done: `closed`, or its `branch` deleted, or its `base` changed."""
    pull: int
    """The number of the pull request."""
    base: str = ""
    """What its base was changed to; empty: it was not."""

    def sentence(self) -> str:
        return f"A person took {subject(self.task)} out: {self._taken_out.why}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_part(convoy, self.task, taken_out=self._taken_out, candidate=None)

    @property
    def _taken_out(self) -> TakenOut:
        return TakenOut(gesture=self.gesture, pull=self.pull, base=self.base)


class WorkTakenBack(ConvoyEvent, frozen=True, kw_only=True, tag="work.taken-back"):
    """A person undid what took the work out; task 0 is the convoy itself."""

    task: int
    by: str = ""
    """Who wants another pull request for it; empty: its own is open again."""

    def sentence(self) -> str:
        anew = ": another pull request is opened" if self.by else ""
        return f"{self.by or 'A person'} took {subject(self.task)} back{anew}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if not self.by:
            return change_part(convoy, self.task, taken_out=None)
        return change_part(
            convoy, self.task, taken_out=None, pull=None, put_back_by=self.by
        )


class TakeOutWork(TaskCommand, frozen=True, kw_only=True):
    """A person closed a pull request, deleted its branch or changed its base."""

    out: TakenOut

    def decide(self, state: State) -> Decision:
        part = held_part(state, self.convoy, self.task)
        if part.pull != self.out.pull:
            return Refusal(f"#{self.out.pull} is not its pull request")
        if part.taken_out == self.out:
            return Refusal("it is taken out already")
        return (
            WorkTakenOut(
                convoy=self.convoy,
                task=self.task,
                gesture=self.out.gesture,
                pull=self.out.pull,
                base=self.out.base,
            ),
        )


class TakeBackWork(TaskCommand, frozen=True, kw_only=True):
    """The pull request is open, and its branch and base are as they should be."""

    def decide(self, state: State) -> Decision:
        part = held_part(state, self.convoy, self.task)
        if part.taken_out is None:
            return Refusal("nobody took it out")
        return (WorkTakenBack(convoy=self.convoy, task=self.task),)


class OfferAgain(TaskCommand, frozen=True, kw_only=True):
    """A person wants another pull request for what one that was closed offered.

    A closed pull request whose branch has moved since cannot be reopened.
    """

    by: str

    def decide(self, state: State) -> Decision:
        """Let it go on, and announce another pull request."""
        part = held_part(state, self.convoy, self.task)
        out, key = part.taken_out, ids.pull_key(self.convoy, self.task)
        if out is None or key in state.intents:
            return Refusal("its pull request is not closed")
        if out.gesture != "closed":
            return Refusal(f"{out.why}: it waits for {out.back}")
        return (
            WorkTakenBack(convoy=self.convoy, task=self.task, by=self.by),
            ActionIntended(key=key, kind="pull", convoy=self.convoy, task=self.task),
        )


Gone = Literal["deleted", "transferred"]


_DELETED: Final = "its branch {} was deleted"


class IssueClosed(ConvoyEvent, frozen=True, kw_only=True, tag="issue.closed"):
    """A person closed the convoy's issue: nothing of it starts or lands."""

    issue: int

    def sentence(self) -> str:
        return f"Issue #{self.issue} was closed: the convoy pauses."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if convoy.state != "active":
            return replace(convoy, issue_is="closed")
        why = f"issue #{self.issue} was closed"
        return replace(convoy, issue_is="paused", state="paused", why=why)


class IssueReopened(ConvoyEvent, frozen=True, kw_only=True, tag="issue.reopened"):
    """A person reopened the convoy's issue; it goes on if the closing paused it."""

    issue: int

    def sentence(self) -> str:
        return f"Issue #{self.issue} is open again."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if convoy.issue_is == "paused" and convoy.state == "paused":
            lacks_base = convoy.base_is == "deleted"
            why = _DELETED.format(ids.base_branch(convoy.name)) if lacks_base else ""
            state: ConvoyState = "paused" if lacks_base else "active"
            convoy = replace(convoy, state=state, why=why)
        return replace(convoy, issue_is="open")


class IssueGone(ConvoyEvent, frozen=True, kw_only=True, tag="issue.gone"):
    """The convoy's issue is not here any more: nothing is said or shown there."""

    issue: int
    how: Gone
    """What became of it."""

    def sentence(self) -> str:
        return f"Issue #{self.issue} was {self.how}."

    def change(self, state: State) -> State:
        own = {"", self.convoy}
        here = {"answer", "comment"}
        intents = {
            key: intent
            for key, intent in state.intents.items()
            if intent.kind not in here
            or intent.issue not in (0, self.issue)
            or intent.convoy not in own
        }
        shown = show_item(self.convoy, "")
        aside = {k: v for k, v in state.set_aside.items() if not k.startswith(shown)}
        return super().change(replace(state, intents=intents, set_aside=aside))

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, issue_is="gone")


class NoteClosedIssue(ConvoyCommand, frozen=True, kw_only=True):
    """The convoy's issue is closed, and it was open."""

    def decide(self, state: State) -> Decision:
        convoy = live(state, self.convoy)
        if convoy.issue_is != "open":
            return Refusal(f"issue #{convoy.issue} is known to be closed")
        return (IssueClosed(convoy=convoy.name, issue=convoy.issue),)


class NoteReopenedIssue(ConvoyCommand, frozen=True, kw_only=True):
    """The convoy's issue is open, and it was closed."""

    def decide(self, state: State) -> Decision:
        """Let it go on if nothing but the closing paused it."""
        convoy = live(state, self.convoy)
        if convoy.issue_is == "open":
            return Refusal(f"issue #{convoy.issue} is open")
        return (IssueReopened(convoy=convoy.name, issue=convoy.issue),)


class BaseDeleted(ConvoyEvent, frozen=True, kw_only=True, tag="base.deleted"):
    """A person deleted the branch that the convoy's tasks share: it pauses."""

    def sentence(self) -> str:
        return f"Branch {ids.base_branch(self.convoy)} was deleted: the convoy pauses."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        convoy = replace(convoy, base_is="deleted")
        if convoy.state != "active":
            return convoy
        why = _DELETED.format(ids.base_branch(convoy.name))
        return replace(convoy, state="paused", why=why)


class BaseRestored(ConvoyEvent, frozen=True, kw_only=True, tag="base.restored"):
    """The branch that the convoy's tasks share is there again."""

    def sentence(self) -> str:
        return f"Branch {ids.base_branch(self.convoy)} is there again."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        paused_by_it = convoy.why == _DELETED.format(ids.base_branch(convoy.name))
        if convoy.state == "paused" and paused_by_it:
            convoy = replace(convoy, state="active", why="")
        return replace(convoy, base_is="there")


class NoteDeletedBase(ConvoyCommand, frozen=True, kw_only=True):
    """The convoy's shared branch was there and is not."""

    def decide(self, state: State) -> Decision:
        convoy = live(state, self.convoy)
        if convoy.base_is != "there":
            return Refusal("its branch is known to be deleted")
        return (BaseDeleted(convoy=convoy.name),)


class NoteRestoredBase(ConvoyCommand, frozen=True, kw_only=True):
    """The convoy's shared branch was deleted and is there again."""

    def decide(self, state: State) -> Decision:
        """Let it go on if nothing but the deletion paused it."""
        convoy = live(state, self.convoy)
        if convoy.base_is == "there":
            return Refusal("its branch was not deleted")
        return (BaseRestored(convoy=convoy.name),)


class BasePushed(ConvoyEvent, frozen=True, kw_only=True, tag="base.pushed"):
    """Somebody pushed to the shared branch what none of its tasks made: it waits."""

    commit: str
    files: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def sentence(self) -> str:
        branch = ids.base_branch(self.convoy)
        return f"Somebody pushed {self.commit[:SHORT]} to {branch}: the convoy waits."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        pushed = Push(commit=self.commit, files=self.files, faults=self.faults)
        return replace(convoy, pushed=pushed)


class BaseTaken(ConvoyEvent, frozen=True, kw_only=True, tag="base.taken"):
    """A person answers for what was pushed to the shared branch: it lands with it."""

    commit: str
    by: str

    def sentence(self) -> str:
        branch = ids.base_branch(self.convoy)
        return f"{self.by} answers for {self.commit[:SHORT]}, pushed to {branch}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, tip=self.commit, pushed=None, put_back_by=self.by)


class BaseReturned(ConvoyEvent, frozen=True, kw_only=True, tag="base.returned"):
    """The shared branch is again where the log left it."""

    def sentence(self) -> str:
        return f"Branch {ids.base_branch(self.convoy)} is where it was before the push."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, pushed=None)


class NotePush(ConvoyCommand, frozen=True, kw_only=True):
    """The shared branch has a tip that the log does not know."""

    commit: str
    files: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def decide(self, state: State) -> Decision:
        convoy = live(state, self.convoy)
        known = convoy.pushed.commit if convoy.pushed else ""
        if self.commit in (known, *convoy.base_tips):
            return Refusal(f"{self.commit} is known")
        return (
            BasePushed(
                convoy=convoy.name,
                commit=self.commit,
                files=self.files,
                faults=self.faults,
            ),
        )


class TakePush(ConvoyCommand, frozen=True, kw_only=True):
    """A person wants what was pushed, at this commit, in full or abbreviated."""

    commit: str
    by: str

    def decide(self, state: State) -> Decision:
        """Go on from it; who wants it answers for the landing, as for `/brat merge`."""
        convoy = live(state, self.convoy)
        if convoy.pushed is None or not convoy.pushed.commit.startswith(self.commit):
            return Refusal(f"{self.commit} was not pushed to its branch")
        commit = convoy.pushed.commit
        return (BaseTaken(convoy=convoy.name, commit=commit, by=self.by),)


class NoteReturnedBase(ConvoyCommand, frozen=True, kw_only=True):
    """The shared branch is gone, or is again where the log left it."""

    def decide(self, state: State) -> Decision:
        convoy = live(state, self.convoy)
        if convoy.pushed is None:
            return Refusal("nothing was pushed to its branch")
        return (BaseReturned(convoy=convoy.name),)


COMMENTS_MOST: Final = 2
"""How often a convoy's comment is written; who deletes the last one wants none."""


class CommentDeleted(ConvoyEvent, frozen=True, kw_only=True, tag="comment.deleted"):
    """A person deleted the comment that showed the convoy."""

    comment: int

    def sentence(self) -> str:
        return f"Comment {self.comment}, which showed the convoy, was deleted."

    def convoy_after(self, convoy: Convoy, _now: Moment, /) -> Convoy:
        deleted = convoy.deleted_comments + 1
        return replace(convoy, comment=None, deleted_comments=deleted)


class NoteDeletedComment(ConvoyCommand, frozen=True, kw_only=True):
    comment: int

    def decide(self, state: State) -> Decision:
        """Note the deletion, and announce that the comment is written again, once."""
        convoy = state.convoys.get(self.convoy)
        if convoy is None or convoy.ended or convoy.comment != self.comment:
            return Refusal(f"comment {self.comment} does not show {self.convoy}")
        deleted = CommentDeleted(convoy=convoy.name, comment=self.comment)
        written = convoy.deleted_comments + 1
        if written == COMMENTS_MOST:
            return (deleted,)
        key = ids.comment_key(convoy.name, written)
        again = ActionIntended(key=key, kind="comment", convoy=convoy.name)
        return (deleted, again)
