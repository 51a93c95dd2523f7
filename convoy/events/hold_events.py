"""What people keep from merging: by words, by labels, and by what they do by hand.

Held work has no candidate: CI need not judge it, and candidates behind it in the queue
are built without it. Work is taken out by closing its pull request, deleting its branch
or changing its base; it neither starts nor merges, but keeps all that it has, and only
the same person's hands bring it back. A closed issue pauses its convoy until somebody
reopens it or says that it goes on. So does a deleted shared branch, and no work is lost
with it: each landed commit is kept by the branch of its task.
"""

from typing import Final, Literal

from msgspec.structs import replace

from convoy.events import AboutTask, ConvoyEvent, Events, Refusal, copied, subject
from convoy.events.forge_actions import ActionIntended, pull_wanted
from convoy.events.task_events import ConvoyFailed
from convoy.model import ids
from convoy.model.state import Convoy, ConvoyState, Moment, State, Task, change_part
from convoy.model.work import Gesture, Push, TakenOut, TargetSync


class _PartEvent(ConvoyEvent, AboutTask, frozen=True, kw_only=True):
    """An event about a task, or with 0 about the convoy itself."""

    task: int

    @property
    def branch(self) -> str:
        return ids.branch_of(self.convoy, self.task)

    def part(self, state: State) -> Convoy | Task:
        """Return a task that is not settled, or the convoy; it has not ended."""
        if self.task:
            return self.unsettled(state)[1]
        return self.live(state)


class MergeWithdrawn(_PartEvent, frozen=True, kw_only=True, tag="merge.withdrawn"):
    """A person took a task out of the merge queue; task 0 is the convoy itself."""

    SAYS = "{by} removed {task:part} from the merge queue."
    by: str

    def decide(self, state: State) -> Events:
        if self.part(state).withdrawn:
            raise Refusal("it is not in the merge queue")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_part(
            convoy, self.task, withdrawn=True, put_back_by="", candidate=None
        )


class MergeRequested(_PartEvent, frozen=True, kw_only=True, tag="merge.requested"):
    """A person put a task back into the merge queue; task 0 is the convoy itself."""

    SAYS = "{by} put {task:part} into the merge queue."
    by: str

    def decide(self, state: State) -> Events:
        part = self.part(state)
        if part.taken_out is not None:
            raise Refusal(part.taken_out.waits)
        if not part.withdrawn:
            raise Refusal("it will merge automatically when it is green and approved")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if not self.task:  # the forge may have to be asked again
            convoy = replace(convoy, asked="")
        return change_part(convoy, self.task, withdrawn=False, put_back_by=self.by)


HOLD_LABEL: Final = "brat:hold"
"""Nothing of the issue's convoy starts or merges; the pull request does not merge."""
LAND_LABEL: Final = "brat:merge"
"""Says `/brat land` on a pull request; it goes when that was done."""
NO_LABEL: Final = "brat:no"
"""The bot never acts on this issue or pull request."""


class WorkHeld(_PartEvent, frozen=True, kw_only=True, tag="work.held"):
    """A label keeps a task from merging; task 0: the convoy from starting, too."""

    SAYS = "The label {label:clause} now holds {task:part}."
    label: str
    """The label, such as `brat:hold`."""

    def decide(self, state: State) -> Events:
        if self.part(state).held == self.label:
            raise Refusal(f"{self.label} already holds it")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        held = change_part(convoy, self.task, held=self.label, candidate=None)
        if self.task:
            return held
        tasks = tuple(replace(task, candidate=None) for task in held.tasks)
        return replace(held, tasks=tasks)


class WorkReleased(_PartEvent, frozen=True, kw_only=True, tag="work.released"):
    """The label that held a task was removed; task 0 is the convoy itself."""

    SAYS = "{task:Part} is no longer held by a label."

    def decide(self, state: State) -> Events:
        if not self.part(state).held:
            raise Refusal("no label holds it")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_part(convoy, self.task, held="")


class WorkTakenOut(_PartEvent, frozen=True, kw_only=True, tag="work.taken-out"):
    """A person dequeued a task on the forge; task 0 is the convoy itself."""

    SAYS = "A person dequeued {task:part}: {_taken_out.why}."
    gesture: Gesture
    """How: `closed`, its `branch` deleted, its `base` changed, or made a `draft`."""
    pull: int
    """The pull request's number."""
    base: str = ""
    """The pull request's new base; empty: it was not changed."""

    def decide(self, state: State) -> Events:
        part = self.part(state)
        if part.pull != self.pull:
            raise Refusal(f"#{self.pull} is not its pull request")
        if part.taken_out == self._taken_out:
            raise Refusal("it was already removed from the queue")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_part(convoy, self.task, taken_out=self._taken_out, candidate=None)

    @property
    def _taken_out(self) -> TakenOut:
        return copied(TakenOut, self)


class WorkTakenBack(_PartEvent, frozen=True, kw_only=True, tag="work.taken-back"):
    """A person put dequeued work back in the queue; task 0 is the convoy itself."""

    by: str = ""
    """Who asked for a new pull request; empty: the old one is open again."""

    def sentence(self) -> str:
        new = ": a new pull request will be opened" if self.by else ""
        return (
            f"{self.by or 'A person'} put {subject(self.task)} back in the queue{new}."
        )

    def decide(self, state: State) -> Events:
        """Let it go on; where a person asks for it, announce another pull request.

        A closed pull request whose branch has moved since cannot be reopened.
        """
        out = self.part(state).taken_out
        if out is None:
            raise Refusal("it was not removed from the queue")
        if not self.by:
            return (self,)
        if out.gesture != "closed":
            raise Refusal(out.waits)
        pull = pull_wanted(state, self.convoy, self.task)
        if not pull:
            raise Refusal("a new pull request is about to be opened")
        return (self, *pull)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if not self.by:
            return change_part(convoy, self.task, taken_out=None)
        return change_part(
            convoy, self.task, taken_out=None, pull=None, put_back_by=self.by
        )


_DELETED: Final = "its branch {} was deleted"


class IssueClosed(ConvoyEvent, frozen=True, kw_only=True, tag="issue.closed"):
    """A person closed the convoy's issue, so none of its tasks start or land."""

    SAYS = "Issue #{issue} was closed, so the convoy is paused."
    issue: int

    def decide(self, state: State) -> Events:
        if self.live(state).issue_is != "open":
            raise Refusal(f"issue #{self.issue} is already known to be closed")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if convoy.state != "active":
            return replace(convoy, issue_is="closed")
        why = f"issue #{self.issue} was closed"
        return replace(convoy, issue_is="paused", state="paused", why=why)


class IssueReopened(ConvoyEvent, frozen=True, kw_only=True, tag="issue.reopened"):
    """A person reopened the issue; if closing it paused the convoy, it resumes."""

    SAYS = "Issue #{issue} is open again."
    issue: int

    def decide(self, state: State) -> Events:
        if self.live(state).issue_is == "open":
            raise Refusal(f"issue #{self.issue} is open")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        if convoy.issue_is == "paused" and convoy.state == "paused":
            lacks_base = convoy.base_is == "deleted"
            why = _DELETED.format(ids.base_branch(convoy.name)) if lacks_base else ""
            state: ConvoyState = "paused" if lacks_base else "active"
            convoy = replace(convoy, state=state, why=why)
        return replace(convoy, issue_is="open")


class IssueGone(ConvoyEvent, frozen=True, kw_only=True, tag="issue.gone"):
    """The convoy's issue no longer exists here, so nothing more is posted on it."""

    SAYS = "Issue #{issue} was {how}."
    issue: int
    how: Literal["deleted", "transferred"]
    """What happened to it."""

    def decide(self, state: State) -> Events:
        """Cancel what nobody can speak about any more; what is done is kept."""
        why = f"cancelled: issue #{self.issue} was {self.how}"
        failed = ConvoyFailed(convoy=self.convoy, why=why, by="somebody")
        return (self, *failed.decide(state))

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
        shown = ids.item("show", self.convoy, "")
        aside = {k: v for k, v in state.set_aside.items() if not k.startswith(shown)}
        return super().change(replace(state, intents=intents, set_aside=aside))

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, issue_is="gone")


class BaseDeleted(ConvoyEvent, frozen=True, kw_only=True, tag="base.deleted"):
    """A person deleted the convoy's base branch, which pauses the convoy."""

    SAYS = "Branch {convoy:base} was deleted, so the convoy is paused."

    def decide(self, state: State) -> Events:
        if self.live(state).base_is != "there":
            raise Refusal("its branch is already known to be deleted")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        convoy = replace(convoy, base_is="deleted")
        if convoy.state != "active":
            return convoy
        why = _DELETED.format(ids.base_branch(convoy.name))
        return replace(convoy, state="paused", why=why)


class BaseRestored(ConvoyEvent, frozen=True, kw_only=True, tag="base.restored"):
    """The convoy's base branch exists again."""

    SAYS = "Branch {convoy:base} exists again."

    def decide(self, state: State) -> Events:
        if self.live(state).base_is == "there":
            raise Refusal("its branch was not deleted")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        paused_by_it = convoy.why == _DELETED.format(ids.base_branch(convoy.name))
        if convoy.state == "paused" and paused_by_it:
            convoy = replace(convoy, state="active", why="")
        return replace(convoy, base_is="there")


class BranchPushed(_PartEvent, frozen=True, kw_only=True, tag="base.pushed"):
    """Someone pushed their own commit to the convoy's base branch or a task's branch.

    The convoy or task waits, because a candidate would overwrite the commit.
    """

    SAYS = "Someone pushed {commit:short} to {branch}, so {task:part} waits."
    task: int = 0
    commit: str
    files: tuple[str, ...] = ()
    ci_files: tuple[str, ...] = ()
    """The changed files that tell CI what to run."""
    faults: tuple[str, ...] = ()

    def decide(self, state: State) -> Events:
        part = self.part(state)
        known = part.pushed.commit if part.pushed else ""
        if self.commit == known or self.commit in part.tips:
            raise Refusal(f"{self.commit} is already known")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        pushed = copied(Push, self)
        if self.task:
            return change_part(convoy, self.task, pushed=pushed, candidate=None)
        return replace(convoy, pushed=pushed)


class BranchTaken(_PartEvent, frozen=True, kw_only=True, tag="base.taken"):
    """What was pushed to a branch of the convoy was accepted, so it lands too."""

    SAYS = "{sponsor} accepted the push of {commit:short} to {branch}."
    task: int = 0
    commit: str
    by: str
    """Who answers for it; empty: it adds nothing that somebody must answer for."""
    onto: str = ""
    """The commit of its pull request's base that it merges in, and nothing else; empty:
    it is another push."""

    @property
    def sponsor(self) -> str:
        return self.by or "brat"

    def decide(self, state: State) -> Events:
        """Go on from the commit, which may be abbreviated.

        Who wants it answers for the landing, as for `/brat merge`.
        """
        part = self.part(state)
        if part.pushed is None or not part.pushed.commit.startswith(self.commit):
            raise Refusal(f"{self.commit} was not pushed to its branch")
        if isinstance(part, Task) and part.state != "needs-review":
            raise Refusal(f"task {self.task} is {part.state}: it has no work to change")
        return (replace(self, commit=part.pushed.commit),)

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        if not self.task:
            taken = TargetSync(target=self.onto, at=now.at)
            sync = taken if self.onto else convoy.sync
            by = self.by or convoy.put_back_by
            changed = replace(convoy, tip=self.commit, pushed=None, put_back_by=by)
            return replace(changed, sync=sync)
        task = convoy.task(self.task)
        if task is None or task.work is None or task.pushed is None:
            return convoy
        work, pushed = task.work, task.pushed
        made = replace(
            work,
            commit=self.commit,
            base=self.onto or work.base,
            files=tuple(sorted({*work.files, *pushed.files})),
            ci_files=tuple(sorted({*work.ci_files, *pushed.ci_files})),
            log=now.commit,
        )
        return change_part(
            convoy,
            self.task,
            tips=task.left_at(self.commit).tips,
            work=made,
            pushed=None,
            put_back_by=self.by or task.put_back_by,
            approvals=task.approvals if self.onto else (),
            candidate=None,
        )


class BranchReturned(_PartEvent, frozen=True, kw_only=True, tag="base.returned"):
    """A branch of the convoy is back at the commit that the log records."""

    SAYS = "Branch {branch} is back where it was before the push."
    task: int = 0

    def decide(self, state: State) -> Events:
        if self.part(state).pushed is None:
            raise Refusal("nothing was pushed to its branch")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_part(convoy, self.task, pushed=None)


COMMENTS_MOST: Final = 2
"""How often a convoy's comment is written; who deletes the last one wants none."""


class CommentDeleted(ConvoyEvent, frozen=True, kw_only=True, tag="comment.deleted"):
    """A person deleted the comment that showed the convoy."""

    SAYS = "Comment {comment}, which showed the convoy, was deleted."
    comment: int

    def decide(self, state: State) -> Events:
        """Announce that it is written again, once."""
        convoy = state.convoys.get(self.convoy)
        if convoy is None or convoy.ended or convoy.comment != self.comment:
            raise Refusal(f"comment {self.comment} does not show {self.convoy}")
        written = convoy.deleted_comments + 1
        if written == COMMENTS_MOST:
            return (self,)
        key = ids.comment_key(convoy.name, written)
        return (self, ActionIntended(key=key, kind="comment", convoy=convoy.name))

    def convoy_after(self, convoy: Convoy, _now: Moment, /) -> Convoy:
        deleted = convoy.deleted_comments + 1
        return replace(convoy, comment=None, deleted_comments=deleted)
