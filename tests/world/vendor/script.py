"""The script: what the model does in each conversation, and how it fails.

As JSON: {"cases": [{"when": ["part of a prompt"], "steps": [{"type": "write", "path":
"hello.txt", "content": "hi"}, {"type": "run", "command": "true"}]}]}.
"""

from typing import Final

import msgspec
from msgspec import Struct

from grite.errors import BratError


class Write(Struct, frozen=True, kw_only=True, tag="write", forbid_unknown_fields=True):
    """Write a file that does not exist yet."""

    path: str
    """Relative to the folder in which the CLI works."""
    content: str


class Patch(Struct, frozen=True, kw_only=True, tag="patch", forbid_unknown_fields=True):
    """Change files as a unified diff says, without any header of git's."""

    diff: str


class Run(Struct, frozen=True, kw_only=True, tag="run", forbid_unknown_fields=True):
    command: str


class Insist(
    Struct, frozen=True, kw_only=True, tag="insist", forbid_unknown_fields=True
):
    """Call a tool by its name, whether the CLI offers it or not."""

    tool: str
    arguments: tuple[tuple[str, str], ...] = ()
    """Names and values."""


Step = Write | Patch | Run | Insist


class Status(
    Struct, frozen=True, kw_only=True, tag="status", forbid_unknown_fields=True
):
    """Answer with an HTTP error, such as 401, 429 or 500."""

    code: int
    retry_after: int | None = None
    """Seconds."""


class Hang(Struct, frozen=True, tag="hang", forbid_unknown_fields=True):
    """Take the request and never answer."""


class Cut(Struct, frozen=True, tag="cut", forbid_unknown_fields=True):
    """Drop the connection in the middle of an answer."""


class Flood(Struct, frozen=True, tag="flood", forbid_unknown_fields=True):
    """Answer without end."""


class Loop(Struct, frozen=True, tag="loop", forbid_unknown_fields=True):
    """Ask for one more call of a tool, always."""


Fault = Status | Hang | Cut | Flood | Loop


class Case(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class Script(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    """Read a script.

    Raises:
        BratError: the text is not a valid script; the message names the faulty place.
    """
    try:
        return msgspec.json.decode(text, type=Script)
    except msgspec.DecodeError as error:
        raise BratError(f"this is no script of a vendor: {error}") from error


def dump(script: Script) -> bytes:
    return msgspec.json.encode(script)
