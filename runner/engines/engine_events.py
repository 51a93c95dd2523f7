"""The events of engines at work, in one vocabulary for all engines.

An engine's reader turns each line of output into these events; a line that it does not
understand is text. No event is believed alone: the verdict also looks at the exit
status and at git.
"""

from typing import Literal

from msgspec import Struct

from convoy.model.session_result import Trouble


class Event(Struct, frozen=True, kw_only=True, tag_field="type"):
    """The base of all events: the field `type` in their JSON form."""


class Text(Event, frozen=True, kw_only=True, tag="text"):
    """Something for people to read."""

    text: str
    by: Literal["agent", "program"] = "agent"
    """The model, or the program around it: banners, warnings, lines without JSON."""
    goes_on: bool = False
    """Whether this text continues the text before it, if there is one."""


class ToolUse(Event, frozen=True, kw_only=True, tag="tool"):
    """The model uses a tool; `refused` says that the use was not allowed."""

    name: str
    about: str = ""
    """The tool's command or file, cut."""
    refused: bool = False


class Usage(Event, frozen=True, kw_only=True, tag="usage"):
    """Tokens used since the last such event."""

    model: str = ""
    input_tokens: int = 0
    """Input tokens, without those read from the vendor's cache."""
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
    """The HTTP status behind the error, if known."""


class RateLimit(Event, frozen=True, kw_only=True, tag="rate_limit"):
    """The vendor says for how long it refuses calls."""

    message: str = ""
    wait_s: float | None = None
    """Seconds from now; None: the vendor does not say."""
    until: int | None = None
    """Unix seconds; None: the vendor does not say."""


class Result(Event, frozen=True, kw_only=True, tag="result"):
    """The engine's own claim about its end."""

    ok: bool
    text: str = ""
    """The model's last message, if the engine repeats it."""


class Session(Event, frozen=True, kw_only=True, tag="session"):
    """The engine's name for this session."""

    id: str


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """The session's proxy refused something; an event of the witness's own."""

    what: str


class Network(Event, frozen=True, kw_only=True, tag="network"):
    """Whether the agent reaches only what its proxy allows; the witness's own."""

    closed: bool
    why: str = ""
    """Why the network is not closed."""


class Unboxed(Event, frozen=True, kw_only=True, tag="unboxed"):
    """The agent had no users, processes and mounts of its own; the witness's own."""

    why: str


class Metered(Event, frozen=True, kw_only=True, tag="metered"):
    """The proxy's total for the session; the witness's own event."""

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
