"""What a request holds, and what is answered: the same for all dialects."""

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
    """All that was said, system prompt and tools' results included."""
    said: str
    """The part of it that the model said itself."""
    results: int
    """How many calls of tools were answered."""
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
    """What grows the answer; may be repeated without end."""
    tail: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a call is said to have used."""

    read: int
    written: int = field(default=1)

    @property
    def total(self) -> int:
        """Both."""
        return self.read + self.written


def tool(name: object, schema: object) -> Tool:
    """Read one tool's declaration, whatever is missing in it."""
    found = schema if isinstance(schema, dict) else {}
    properties = found.get("properties") or {}
    return Tool(
        str(name),
        {key: value for key, value in properties.items() if isinstance(value, dict)},
        tuple(map(str, found.get("required") or ())),
    )


def tokens(asked: Asked, turn: Turn) -> Tokens:
    """Count as vendors roughly do."""
    written = turn.text if isinstance(turn, Say) else str(turn.arguments)
    return Tokens(
        len(asked.text) // CHARS_PER_TOKEN + 1, len(written) // CHARS_PER_TOKEN + 1
    )


def halves(text: str) -> tuple[str, str]:
    """Split what is streamed in two, so that there is a middle to fail in."""
    middle = len(text) // 2
    return text[:middle], text[middle:]
