"""What an engine says while it works, in one vocabulary for all of them.

An engine's reader turns each line of output into these; what is not understood is text.
None of it is believed alone: the verdict also asks the exit status and git.
"""

from typing import Literal

from msgspec import Struct

from convoy.outcome import Trouble


class Event(Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all events share: the field `type` in their JSON form."""


class Text(Event, frozen=True, kw_only=True, tag="text"):
    """Something for people to read."""

    text: str
    by: Literal["agent", "program"] = "agent"
    """The model, or the program around it: banners, warnings, what is no JSON."""
    goes_on: bool = False
    """It is a piece, and belongs right behind the piece before it, if there is one."""


class ToolUse(Event, frozen=True, kw_only=True, tag="tool"):
    """The model uses a tool; `refused` says that it was not let."""

    name: str
    about: str = ""
    """Its command or file, cut."""
    refused: bool = False


class Usage(Event, frozen=True, kw_only=True, tag="usage"):
    """Tokens used since the last such event."""

    model: str = ""
    input_tokens: int = 0
    """Without those read from the vendor's cache."""
    cached_tokens: int = 0
    output_tokens: int = 0


class Cost(Event, frozen=True, kw_only=True, tag="cost"):
    """Money used since the last such event, as the engine reckons it."""

    usd: float


class Error(Event, frozen=True, kw_only=True, tag="error"):
    """Something went wrong; the engine may still get over it."""

    kind: Trouble
    message: str
    status: int | None = None
    """The HTTP status behind it, where it is known."""


class RateLimit(Event, frozen=True, kw_only=True, tag="rate_limit"):
    """The vendor says how long it will take no more."""

    message: str = ""
    wait_s: float | None = None
    """From now on; None: it does not say."""
    until: int | None = None
    """Unix seconds; None: it does not say."""


class Result(Event, frozen=True, kw_only=True, tag="result"):
    """The engine's own word on its end."""

    ok: bool
    text: str = ""
    """The model's last message, where the engine repeats it."""


class Session(Event, frozen=True, kw_only=True, tag="session"):
    """The engine's name for this session."""

    id: str


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """The session's proxy let something not through; the witness's own event."""

    what: str


class Network(Event, frozen=True, kw_only=True, tag="network"):
    """Whether the agent can reach but what the proxy lets it; the witness's own."""

    closed: bool
    why: str = ""
    """Why it is not closed."""


class Unboxed(Event, frozen=True, kw_only=True, tag="unboxed"):
    """The agent had no users, processes and mounts of its own; the witness's own."""

    why: str


class Metered(Event, frozen=True, kw_only=True, tag="metered"):
    """What the session's proxy has counted in all; the witness's own event."""

    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int


Said = (
    Text
    | ToolUse
    | Usage
    | Cost
    | Error
    | RateLimit
    | Result
    | Session
    | Refused
    | Network
    | Unboxed
    | Metered
)
