"""A session's statements about itself."""

from convoy.events.fact import SHORT, Claim
from convoy.model.outcome import Outcome
from convoy.model.records import Verdict


class SessionSpawned(Claim, frozen=True, kw_only=True, tag="session.spawned"):
    """The witness is up and has read its task."""

    def sentence(self) -> str:
        return f"{self.session} is up."


class SessionReady(Claim, frozen=True, kw_only=True, tag="session.ready"):
    """The workspace stands at the base commit."""

    def sentence(self) -> str:
        return f"{self.session} has its workspace."


class SessionRunning(Claim, frozen=True, kw_only=True, tag="session.running"):
    """The engine's process was started."""

    engine: str
    argv0: str

    def sentence(self) -> str:
        return f"{self.session} started {self.argv0} ({self.engine})."


class FilesModified(Claim, frozen=True, kw_only=True, tag="files.modified"):
    """The files that the attempt changed against its base."""

    paths: tuple[str, ...]

    def sentence(self) -> str:
        return f"{self.session} changed {len(self.paths)} files."


class SessionHandoff(Claim, frozen=True, kw_only=True, tag="session.handoff"):
    """The work is committed and bundled; None: there is none."""

    commit: str | None

    def sentence(self) -> str:
        if self.commit is None:
            return f"{self.session} hands nothing over."
        return f"{self.session} hands over {self.commit[:SHORT]}."


class SessionExited(Claim, frozen=True, kw_only=True, tag="session.exited"):
    """How the engine ended: an exit status, or the signal that ended it."""

    exit_code: int | None
    signal: int | None
    verdict: Verdict
    outcome: Outcome = "exited"
    """How the session ended; docs/engines.md says what each means."""
    summary: str
    seconds: float

    def sentence(self) -> str:
        how = f"{self.verdict} ({self.outcome})"
        if self.signal is None:
            return f"{self.session} exited with {self.exit_code}: {how}."
        return f"{self.session} was ended by signal {self.signal}: {how}."
