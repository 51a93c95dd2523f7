"""An attempt at a task and what it leaves: a session, its work, and candidates."""

from msgspec import Struct


class Message(Struct, frozen=True):
    """What a person said while an attempt ran."""

    by: str
    text: str


class Attempt(Struct, frozen=True, kw_only=True):
    """A session that has started and whose end is not in the log yet."""

    number: int
    session: str
    nonce: str
    base: str
    root: str = ""
    """The commit that its work is measured from, where that is not `base`."""
    salvaged: int = 0
    """The earlier attempt whose half-done work is `base`; 0: none."""
    ground: str = ""
    """The commit it would have started from without that half-done work."""
    resolves: str = ""
    """The merge with git's conflict markers that it makes whole; empty: none."""
    log: str
    """The commit that carries `task.started`, which the runner is told to read."""
    at: int
    """The time it was started, later the time its dispatch was noted."""
    run: int | None = None
    """The workflow run, once the dispatch is known to be done."""
    messages: tuple[Message, ...] = ()
    """The messages people sent to the task since it started, oldest first."""
    heard: int = 0
    """How many of those messages its engine has been given."""


class Work(Struct, frozen=True, kw_only=True):
    """Work that an attempt handed in and the gate let through."""

    attempt: int
    commit: str
    base: str
    files: tuple[str, ...]
    ci_files: tuple[str, ...] = ()
    """Those that tell CI what to run."""
    log: str = ""
    """The commit that carries `work.accepted`; empty until it is pushed."""
    at: int
    missing_walls: tuple[str, ...] = ()
    """The walls that its session does not claim to have had around its agent."""


class Unmerged(Struct, frozen=True, kw_only=True):
    """Work that conflicts with what has landed; the next attempt makes it fit."""

    attempt: int
    commit: str
    base: str
    paths: tuple[str, ...]
    """The files that conflict."""
    merge: str = ""
    """The merge that the newest attempt at it began with; empty: none has begun."""
    at: int
    """When the conflict was found, unix ms."""


class Clash(Struct, frozen=True, kw_only=True):
    """Work in the merge queue that conflicts with work ahead of it."""

    on: int
    """The other task."""
    work: str
    other: str
    """The other task's work."""
    paths: tuple[str, ...]
    """The files that conflict."""


class Resolution(Struct, frozen=True, kw_only=True):
    """What an attempt that makes work fit starts from, and is told."""

    attempt: int
    """The attempt whose work it goes on with."""
    merge: str
    """That work merged into the branch, with git's conflict markers."""
    tip: str
    """The commit of the branch that it was merged into."""
    told: str
    """Both sides of the conflict: what each was for and what it changed; data."""


class HalfDone(Struct, frozen=True, kw_only=True):
    """The unfinished work of an attempt that was stopped in the middle of it."""

    attempt: int
    commit: str
    base: str
    """The commit that the whole work is measured from."""
    ground: str
    """The commit that the first in this chain of attempts started from."""


class HandedIn(Struct, frozen=True):
    """The newest work that the gate let through, even if it was sent back since."""

    attempt: int
    commit: str
    why: str = ""
    """Why it was sent back; empty: it was not."""


class Candidate(Struct, frozen=True, kw_only=True):
    """A commit that CI judges and that then lands unchanged."""

    commit: str
    base: str
    work: str
    target: str = ""
    """The target's commit that a task's work takes in; empty: it takes none in."""
    at: int
    since: int = 0
    """When the first candidate of the same work was built, unix ms."""
