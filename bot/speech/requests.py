"""What a person can ask for with a command: small facts, checked in form alone.

Whether the person may, and whether the rules allow it now, is asked later. The first
word of a tag is the verb whose row in `registry.VERBS` says what right it takes.
"""

from msgspec import Struct


class Help(Struct, frozen=True, tag="help"):
    """Say what can be said."""

    verb: str | None = None
    """The only verb to tell of; there is such a verb."""


class Status(Struct, frozen=True, tag="status"):
    """Show where the convoy stands."""


class Start(Struct, frozen=True, tag="start"):
    """Make a convoy of the issue."""

    text: str = ""
    """Added to the issue's own; cleaned."""


class Retry(Struct, frozen=True, tag="retry"):
    """Try again what is blocked."""

    task: int | None = None
    """None: all that is blocked, or the task whose pull request this is."""


class Cancel(Struct, frozen=True, tag="cancel"):
    """End the convoy or a task."""

    task: int | None = None
    """None: the whole convoy."""


class Pause(Struct, frozen=True, tag="pause"):
    """Start nothing new in this convoy."""


class PauseAll(Struct, frozen=True, tag="pause all"):
    """Start nothing new in the repository."""


class Resume(Struct, frozen=True, tag="resume"):
    """Let this convoy go on."""


class ResumeAll(Struct, frozen=True, tag="resume all"):
    """Let the whole repository go on."""


class Drop(Struct, frozen=True, tag="drop"):
    """Settle a task undone."""

    task: int


class Lock(Struct, frozen=True, tag="lock"):
    """Keep a resource for the person who asks."""

    resource: str
    """A valid one, and not the bot's own."""
    ttl_s: int


class Unlock(Struct, frozen=True, tag="unlock"):
    """Give a resource up."""

    resource: str


class Why(Struct, frozen=True, tag="why"):
    """Say what a task waits for, and what it went through."""

    task: int


class Ping(Struct, frozen=True, tag="ping"):
    """Say that the bot is there, and which version."""


Request = (
    Help
    | Status
    | Start
    | Retry
    | Cancel
    | Pause
    | PauseAll
    | Resume
    | ResumeAll
    | Drop
    | Lock
    | Unlock
    | Why
    | Ping
)
