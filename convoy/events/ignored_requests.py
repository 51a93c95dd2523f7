"""Requests that nobody answers, because their author has had enough answers."""

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal
from convoy.events.fact import Event
from convoy.model import ids
from convoy.model.state import State


class RequestIgnored(Event, frozen=True, kw_only=True, tag="request.ignored"):
    """A comment, a review or a tick is neither carried out nor answered, ever."""

    by: str
    comment: int = 0
    """The comment; 0: it was the review or tick in `sign`."""
    sign: str = ""
    """The key of the review or tick; empty: it was a comment."""

    def sentence(self) -> str:
        said = f"comment {self.comment}" if self.comment else self.sign
        return f"Ignored {said} by {self.by}, who asks for more than is answered."

    def change(self, state: State) -> State:
        if self.comment:
            return replace(state, answered=state.answered | {self.comment})
        return replace(state, heard=state.heard | {self.sign})


class IgnoreRequest(Command, frozen=True, kw_only=True):
    """Leave a request alone for good."""

    by: str
    comment: int = 0
    sign: str = ""
    """A review or a tick: see `ids.sign_key`."""

    def decide(self, state: State) -> Decision:
        """Note that the request is ignored, unless it is answered."""
        key = self.sign or ids.answer_key(self.comment)
        said = self.comment in state.answered or key in state.heard
        if key in state.intents or said:
            return Refusal(f"{key} is given already")
        return (RequestIgnored(by=self.by, comment=self.comment, sign=self.sign),)
