"""A person pauses and resumes a convoy, or everything in the repository.

Running sessions end and land as usual; nothing new starts, and while everything is
paused nothing new is accepted.
"""

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Events, Refusal, in_state, live
from convoy.events.fact import ConvoyEvent, Event, clause
from convoy.model.failures import without_failures
from convoy.model.state import Convoy, Moment, State


class RepositoryPaused(Event, frozen=True, kw_only=True, tag="repository.paused"):
    """A person paused everything: nothing new starts or is accepted."""

    by: str

    def sentence(self) -> str:
        return f"{self.by} paused everything."

    def change(self, state: State) -> State:
        return replace(state, paused_by=self.by)


class RepositoryResumed(Event, frozen=True, kw_only=True, tag="repository.resumed"):
    """A person resumes everything."""

    by: str

    def sentence(self) -> str:
        return f"{self.by} let everything go on."

    def change(self, state: State) -> State:
        return replace(state, paused_by="", failures=0)


class ConvoyPaused(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.paused"):
    """The convoy was paused: nothing new starts until it is resumed."""

    by: str
    why: str = ""
    """The reason, when the bot did it by itself."""

    def sentence(self) -> str:
        why = f": {clause(self.why)}" if self.why else ""
        return f"{self.by} paused the convoy{why}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, state="paused", why=self.why)


class ConvoyResumed(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.resumed"):
    """The convoy was resumed."""

    by: str

    def sentence(self) -> str:
        return f"{self.by} resumed the convoy."

    def change(self, state: State) -> State:
        return without_failures(super().change(state))

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        closed = convoy.issue_is in ("closed", "paused")
        issue = "overruled" if closed else convoy.issue_is
        state = "active" if convoy.state == "paused" else convoy.state
        return replace(
            convoy,
            state=state,
            why="",
            vouched_by=self.by,
            vouched_in=0,
            issue_is=issue,
            base_is="wanted" if convoy.base_is == "deleted" else convoy.base_is,
        )


class PauseConvoy(Command, frozen=True, kw_only=True):
    """Pause a convoy: start nothing new."""

    convoy: str
    by: str
    why: str = ""

    def decide(self, state: State) -> Decision:
        """Pause a convoy: start nothing new."""
        convoy = in_state(state, self.convoy, "active")
        if isinstance(convoy, Refusal):
            return convoy
        return (ConvoyPaused(convoy=convoy.name, by=self.by, why=self.why),)


class ResumeConvoy(Command, frozen=True, kw_only=True):
    """Resume a convoy."""

    convoy: str
    by: str

    def decide(self, state: State) -> Decision:
        """Resume a convoy, also one whose issue is closed."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.state != "paused" and convoy.issue_is != "closed":
            return Refusal(f"{convoy.name} is {convoy.state}, not paused")
        return (ConvoyResumed(convoy=convoy.name, by=self.by),)


class PauseAll(Command, frozen=True, kw_only=True):
    """A person wants nothing new to start or to be accepted."""

    by: str

    def decide(self, state: State) -> Decision:
        """Pause every convoy, including those to come."""
        if state.paused_by:
            return Refusal(f"everything is paused already, by {state.paused_by}")
        why = paused_because(self.by)
        return (
            RepositoryPaused(by=self.by),
            *(
                ConvoyPaused(convoy=convoy.name, by=self.by, why=why)
                for convoy in state.live()
                if convoy.state == "active"
            ),
        )


class ResumeAll(Command, frozen=True, kw_only=True):
    """A person resumes everything."""

    by: str

    def decide(self, state: State) -> Decision:
        """Let every convoy go on, and new ones start.

        One whose issue is closed waits on: that was said of it alone.
        """
        resumed: Events = tuple(
            ConvoyResumed(convoy=convoy.name, by=self.by)
            for convoy in state.live()
            if convoy.state == "paused" and convoy.issue_is in ("open", "overruled")
        )
        if state.paused_by:
            return (RepositoryResumed(by=self.by), *resumed)
        return resumed or Refusal("nothing is paused")


def paused_because(by: str) -> str:
    """Return why a convoy is paused when everything is."""
    return f"{by} paused everything in this repository"


def stands_still(state: State) -> Refusal | None:
    """Return why nothing new may begin now; None: it may."""
    if not state.paused_by:
        return None
    why = paused_because(state.paused_by)
    return Refusal(f"{why}: say `/brat resume all`, then ask again")
