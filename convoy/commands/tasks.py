"""What is asked for a task."""

from msgspec import Struct

from convoy.events import TaskSpec, Usage
from convoy.notes import Left


class ApproveWork(Struct, frozen=True, kw_only=True):
    """A person approves a task's work, at this commit or one that begins like it."""

    convoy: str
    task: int
    commit: str
    by: str


class VoidApproval(Struct, frozen=True, kw_only=True):
    """Who approved may not approve any more."""

    convoy: str
    task: int
    by: str
    why: str


class StartTask(Struct, frozen=True, kw_only=True):
    """Begin the next attempt; `session` and `nonce` are fresh random hex."""

    convoy: str
    task: int
    base: str
    session: str
    nonce: str
    now: int
    brief: str = ""
    """What a session that looks at work is told of it."""


class StartPlanning(Struct, frozen=True, kw_only=True):
    """Begin the next attempt of task 0; `session` and `nonce` are fresh random hex."""

    convoy: str
    brief: str
    session: str
    nonce: str
    now: int


class RetryTask(Struct, frozen=True, kw_only=True):
    """A person wants a blocked task tried again, with all its attempts."""

    convoy: str
    task: int
    by: str


class ReviseTask(Struct, frozen=True, kw_only=True):
    """A person wants a task's work changed, as the text says."""

    convoy: str
    task: int
    by: str
    text: str


class NoteHeard(Struct, frozen=True, kw_only=True):
    """The running attempt's engine was given so many of the messages for it."""

    convoy: str
    task: int
    attempt: int
    messages: int


class TellTask(Struct, frozen=True, kw_only=True):
    """A person has something to say to the next attempt."""

    convoy: str
    task: int
    by: str
    text: str


class AddTask(Struct, frozen=True, kw_only=True):
    """A person wants one more task; its number is the next one."""

    convoy: str
    spec: TaskSpec
    by: str


class LinkTask(Struct, frozen=True, kw_only=True):
    """A task is to wait for another one."""

    convoy: str
    task: int
    on: int
    by: str = ""
    """The person who wants it so; empty: their work overlaps."""
    why: str = ""


class AssignTask(Struct, frozen=True, kw_only=True):
    """A person wants another engine for a task; None: for all not started yet."""

    convoy: str
    task: int | None
    engine: str
    by: str


class BlockTask(Struct, frozen=True, kw_only=True):
    """Only a person can help."""

    convoy: str
    task: int
    why: str
    by: str = ""
    """The person who stopped it; empty: nobody did."""
    splits: bool = False
    """Whether it is too much for one agent."""


class BeginSplit(Struct, frozen=True, kw_only=True):
    """The mayor is to split what was too much for one agent."""

    convoy: str
    task: int


class SplitTask(Struct, frozen=True, kw_only=True):
    """An attempt at a split ended in parts that fit; the shell has checked them."""

    convoy: str
    task: int
    """The split's own number."""
    attempt: int
    parts: tuple[TaskSpec, ...]
    usage: Usage = Usage()


class DeferTask(Struct, frozen=True, kw_only=True):
    """The day's money is spent: the task waits until then (unix ms)."""

    convoy: str
    task: int
    until: int
    why: str


class DropTask(Struct, frozen=True, kw_only=True):
    """A person does not want the task any more."""

    convoy: str
    task: int
    why: str


class NoteTask(Struct, frozen=True, kw_only=True):
    """An attempt's agent noted something for others; the shell has cleaned it."""

    convoy: str
    task: int
    attempt: int
    left: Left
