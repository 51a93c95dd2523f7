"""What a session says of itself."""

from convoy.events.parts import Fact, Verdict
from convoy.outcome import Outcome


class SessionSpawned(Fact, frozen=True, kw_only=True, tag="session.spawned"):
    """The witness is up and has read its task."""

    convoy: str
    task: int
    attempt: int


class SessionReady(Fact, frozen=True, kw_only=True, tag="session.ready"):
    """The workspace stands at the base commit."""

    convoy: str
    task: int
    attempt: int


class SessionRunning(Fact, frozen=True, kw_only=True, tag="session.running"):
    """The engine's process was started."""

    convoy: str
    task: int
    attempt: int
    engine: str
    argv0: str


class FilesModified(Fact, frozen=True, kw_only=True, tag="files.modified"):
    """What the attempt changed against its base."""

    convoy: str
    task: int
    attempt: int
    paths: tuple[str, ...]


class SessionHandoff(Fact, frozen=True, kw_only=True, tag="session.handoff"):
    """The work is committed and bundled; None: there is none."""

    convoy: str
    task: int
    attempt: int
    commit: str | None


class SessionExited(Fact, frozen=True, kw_only=True, tag="session.exited"):
    """How the engine ended: an exit status, or the signal that ended it."""

    convoy: str
    task: int
    attempt: int
    exit_code: int | None
    signal: int | None
    verdict: Verdict
    outcome: Outcome = "exited"
    """How the session ended; docs/engines.md says what each means."""
    summary: str
    seconds: float
