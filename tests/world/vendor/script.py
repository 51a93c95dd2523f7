"""The script: what the model does in each conversation, and how it fails.

As JSON: {"cases": [{"when": ["part of a prompt"], "steps": [{"type": "write", "path":
"hello.txt", "content": "hi"}, {"type": "run", "command": "true"}]}]}.
"""

from typing import Final

import msgspec
from msgspec import Struct


class _Tagged(Struct, frozen=True, tag=str.lower):
    """What `type` names in JSON."""


class Write(_Tagged, frozen=True):
    """Write a file that does not exist yet."""

    path: str
    """Relative to the folder in which the CLI works."""
    content: str


class Patch(_Tagged, frozen=True):
    """Change files as a unified diff says, without any header of git's."""

    diff: str


class Run(_Tagged, frozen=True):
    command: str


class Insist(_Tagged, frozen=True):
    """Call a tool by its name, whether the CLI offers it or not."""

    tool: str
    arguments: tuple[tuple[str, str], ...] = ()
    """Names and values."""


Step = Write | Patch | Run | Insist


class Status(_Tagged, frozen=True):
    """Answer with an HTTP error, such as 401, 429 or 500."""

    code: int
    retry_after: int | None = None
    """Seconds."""


class Hang(_Tagged, frozen=True):
    """Take the request and never answer."""


class Cut(_Tagged, frozen=True):
    """Drop the connection in the middle of an answer."""


class Flood(_Tagged, frozen=True):
    """Answer without end."""


class Loop(_Tagged, frozen=True):
    """Ask for one more call of a tool, always."""


Fault = Status | Hang | Cut | Flood | Loop


class Case(Struct, frozen=True):
    """What the model does in conversations of one kind."""

    when: tuple[str, ...] = ()
    """All of these are in the conversation."""
    unless: tuple[str, ...] = ()
    """None of these is."""
    steps: tuple[Step, ...] = ()
    closing: str = "Done."
    fault: Fault | None = None
    first: int | None = None
    """How many calls meet the fault; None: all."""


class Script(Struct, frozen=True):
    """All cases that a vendor plays; the first case that fits is taken."""

    cases: tuple[Case, ...]

    def case(self, text: str) -> Case:
        """Return the first case that fits a conversation, else one without steps."""
        for case in self.cases:
            if all(part in text for part in case.when) and not any(
                part in text for part in case.unless
            ):
                return case
        return _NOTHING


_NOTHING: Final = Case()


def load(text: bytes) -> Script:
    return msgspec.json.decode(text, type=Script)


def dump(script: Script) -> bytes:
    return msgspec.json.encode(script)
