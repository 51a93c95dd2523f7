"""A person deletes a convoy's shared branch: it pauses, and the branch can come back.

No work is lost: each landed commit is kept by the branch of its task.
"""

from typing import Final

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, live
from convoy.events.fact import ConvoyEvent
from convoy.model import ids
from convoy.model.state import Convoy, Moment, State

_DELETED: Final = "its branch {} was deleted"


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


class NoteDeletedBase(Command, frozen=True, kw_only=True):
    """The convoy's shared branch was there and is not."""

    convoy: str

    def decide(self, state: State) -> Decision:
        """Pause until a person wants the branch again."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.base_is != "there":
            return Refusal("its branch is known to be deleted")
        return (BaseDeleted(convoy=convoy.name),)


class NoteRestoredBase(Command, frozen=True, kw_only=True):
    """The convoy's shared branch was deleted and is there again."""

    convoy: str

    def decide(self, state: State) -> Decision:
        """Let it go on if nothing but the deletion paused it."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.base_is == "there":
            return Refusal("its branch was not deleted")
        return (BaseRestored(convoy=convoy.name),)
