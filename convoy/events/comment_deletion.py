"""A convoy's comment that people deleted: it is written again, but only once."""

from typing import Final

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal
from convoy.events.fact import ConvoyEvent
from convoy.events.forge_actions import ActionIntended
from convoy.model import ids
from convoy.model.state import Convoy, Moment, State

WRITTEN: Final = 2
"""How often a convoy's comment is written; who deletes the last one wants none."""


class CommentDeleted(ConvoyEvent, frozen=True, kw_only=True, tag="comment.deleted"):
    """A person deleted the comment that showed the convoy."""

    comment: int

    def sentence(self) -> str:
        return f"Comment {self.comment}, which showed the convoy, was deleted."

    def convoy_after(self, convoy: Convoy, _now: Moment, /) -> Convoy:
        deleted = convoy.deleted_comments + 1
        return replace(convoy, comment=None, deleted_comments=deleted)


class NoteDeletedComment(Command, frozen=True, kw_only=True):
    """Note that a convoy's comment is gone from its issue."""

    convoy: str
    comment: int

    def decide(self, state: State) -> Decision:
        """Note the deletion, and announce that the comment is written again, once."""
        convoy = state.convoys.get(self.convoy)
        if convoy is None or convoy.ended or convoy.comment != self.comment:
            return Refusal(f"comment {self.comment} does not show {self.convoy}")
        deleted = CommentDeleted(convoy=convoy.name, comment=self.comment)
        written = convoy.deleted_comments + 1
        if written == WRITTEN:
            return (deleted,)
        key = ids.comment_key(convoy.name, written)
        again = ActionIntended(key=key, kind="comment", convoy=convoy.name)
        return (deleted, again)
