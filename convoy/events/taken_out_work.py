"""Work that people take out by closing its pull request, and take back by reopening it.

So do deleting its branch and changing its base. What is taken out neither starts nor
merges, but keeps all that it has: only the same person's hands bring it back.
"""

from convoy.events.command import Command, Decision, Refusal
from convoy.events.fact import ConvoyEvent, subject
from convoy.events.forge_actions import ActionIntended
from convoy.events.merge_holds import change_part, held_part
from convoy.model import ids
from convoy.model.state import Convoy, Moment, State
from convoy.model.taken_out import Gesture, TakenOut


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


class TakeOutWork(Command, frozen=True, kw_only=True):
    """A person closed a pull request, deleted its branch or changed its base."""

    convoy: str
    task: int
    out: TakenOut

    def decide(self, state: State) -> Decision:
        """Take what the pull request offers out of the queue."""
        part = held_part(state, self.convoy, self.task)
        if isinstance(part, Refusal):
            return part
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


class TakeBackWork(Command, frozen=True, kw_only=True):
    """The pull request is open, and its branch and base are as they should be."""

    convoy: str
    task: int

    def decide(self, state: State) -> Decision:
        """Let it go on."""
        part = held_part(state, self.convoy, self.task)
        if isinstance(part, Refusal):
            return part
        if part.taken_out is None:
            return Refusal("nobody took it out")
        return (WorkTakenBack(convoy=self.convoy, task=self.task),)


class OfferAgain(Command, frozen=True, kw_only=True):
    """A person wants another pull request for what one that was closed offered.

    A closed pull request whose branch has moved since cannot be reopened.
    """

    convoy: str
    task: int
    by: str

    def decide(self, state: State) -> Decision:
        """Let it go on, and announce another pull request."""
        part = held_part(state, self.convoy, self.task)
        if isinstance(part, Refusal):
            return part
        out, key = part.taken_out, ids.pull_key(self.convoy, self.task)
        if out is None or key in state.intents:
            return Refusal("its pull request is not closed")
        if out.gesture != "closed":
            return Refusal(f"{out.why}: it waits for {out.back}")
        return (
            WorkTakenBack(convoy=self.convoy, task=self.task, by=self.by),
            ActionIntended(key=key, kind="pull", convoy=self.convoy, task=self.task),
        )
