"""What a rule answers: events, or why it may not happen."""

from msgspec import Struct

from convoy.events import Event

Events = tuple[Event, ...]


class Refusal(Struct, frozen=True):
    """The rules forbid it, in one sentence."""

    why: str


Decision = Events | Refusal
