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
    pattern: str = ""
    """By which it is planned; empty: as it is configured."""
    inputs: dict[str, str] = {}
    """What fills the pattern's template."""


class Approve(Struct, frozen=True, tag="approve"):
    """Approve the plan, or the work of a pull request."""

    commit: str | None = None
    """The commit of the work, or how it begins; None: the plan."""


class Retry(Struct, frozen=True, tag="retry"):
    """Try again what is blocked."""

    task: int | None = None
    """None: all that is blocked, or the task whose pull request this is."""


class Revise(Struct, frozen=True, tag="revise"):
    """Send the work of the pull request back."""

    text: str


class Tell(Struct, frozen=True, tag="tell"):
    """Have something to say to the task's next attempt."""

    task: int
    text: str


class Cancel(Struct, frozen=True, tag="cancel"):
    """Stop what runs for a task, or end the convoy."""

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


class Add(Struct, frozen=True, tag="add"):
    """Add a task."""

    text: str


class Depends(Struct, frozen=True, tag="depends"):
    """Let a task wait for another one."""

    task: int
    on: int


class Engine(Struct, frozen=True, tag="engine"):
    """Give a task to another engine."""

    engine: str
    task: int | None = None
    """None: all that have not started."""


class Priority(Struct, frozen=True, tag="priority"):
    """Put the convoy before or behind others."""

    priority: int
    """0 is first, 2 is last."""


class Merge(Struct, frozen=True, tag="merge"):
    """Put the pull request back into the merge queue."""


class Unqueue(Struct, frozen=True, tag="unqueue"):
    """Take the pull request out of the merge queue."""


class Rebase(Struct, frozen=True, tag="rebase"):
    """Put the task's work on top of what has landed since."""


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


class Logs(Struct, frozen=True, tag="logs"):
    """Link what a task's sessions printed."""

    task: int


class Cost(Struct, frozen=True, tag="cost"):
    """Say what the convoy has cost."""


class Ping(Struct, frozen=True, tag="ping"):
    """Say that the bot is there, and which version."""


Request = (
    Help
    | Status
    | Start
    | Approve
    | Retry
    | Revise
    | Tell
    | Cancel
    | Pause
    | PauseAll
    | Resume
    | ResumeAll
    | Drop
    | Add
    | Depends
    | Engine
    | Priority
    | Merge
    | Unqueue
    | Rebase
    | Lock
    | Unlock
    | Why
    | Logs
    | Cost
    | Ping
)
