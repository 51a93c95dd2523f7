"""A request and its answer, in a form that all dialects share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

CHARS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the CLI offers."""

    name: str
    properties: Mapping[str, Mapping[str, Any]]
    """The JSON schema of each argument."""
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request. The whole conversation is in it, so nothing has to be remembered."""

    model: str
    text: str
    """The whole conversation, with the system prompt and the tools' results."""
    said: str
    """The part of the conversation that the model wrote."""
    results: int
    """How many tool calls were answered."""
    tools: tuple[Tool, ...] = ()
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Say:
    """The model ends its turn with a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """The model calls a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any]


Turn = Say | Use


@dataclass(frozen=True, slots=True)
class Frames:
    """A streamed answer: server-sent events, in three parts."""

    head: tuple[bytes, ...]
    body: tuple[bytes, ...]
    """The frames that extend the answer; they may be repeated without end."""
    tail: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token counts that are reported for a call."""

    read: int
    written: int = field(default=1)

    @property
    def total(self) -> int:
        """The sum of both counts."""
        return self.read + self.written


def tool(name: object, schema: object) -> Tool:
    """Read one tool's declaration; missing parts get defaults."""
    found = schema if isinstance(schema, dict) else {}
    properties = found.get("properties") or {}
    return Tool(
        str(name),
        {key: value for key, value in properties.items() if isinstance(value, dict)},
        tuple(map(str, found.get("required") or ())),
    )


def tokens(asked: Asked, turn: Turn) -> Tokens:
    """Count tokens roughly as vendors do."""
    written = turn.text if isinstance(turn, Say) else str(turn.arguments)
    return Tokens(
        len(asked.text) // CHARS_PER_TOKEN + 1, len(written) // CHARS_PER_TOKEN + 1
    )


def halves(text: str) -> tuple[str, str]:
    """Split a streamed text in two, so that a fault can strike in the middle."""
    middle = len(text) // 2
    return text[:middle], text[middle:]
