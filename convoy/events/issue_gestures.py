"""What people do by hand to a convoy's issue: close it, reopen it, delete or move it.

A closed issue pauses its convoy until somebody reopens it or says that it goes on.
"""

from typing import Literal

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, live
from convoy.events.fact import ConvoyEvent
from convoy.model.set_aside import show_item
from convoy.model.state import Convoy, Moment, State

Gone = Literal["deleted", "transferred"]


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
            convoy = replace(convoy, state="active", why="")
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


class NoteClosedIssue(Command, frozen=True, kw_only=True):
    """The convoy's issue is closed, and it was open."""

    convoy: str

    def decide(self, state: State) -> Decision:
        """Pause what the issue asked for, until a person says how it goes on."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.issue_is != "open":
            return Refusal(f"issue #{convoy.issue} is known to be closed")
        return (IssueClosed(convoy=convoy.name, issue=convoy.issue),)


class NoteReopenedIssue(Command, frozen=True, kw_only=True):
    """The convoy's issue is open, and it was closed."""

    convoy: str

    def decide(self, state: State) -> Decision:
        """Let it go on if nothing but the closing paused it."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.issue_is == "open":
            return Refusal(f"issue #{convoy.issue} is open")
        return (IssueReopened(convoy=convoy.name, issue=convoy.issue),)
