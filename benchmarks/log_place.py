"""A forge with one project, and what fifty sessions of twenty events left for it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import bare_loop
from brat.repository import registration as registrations
from brat.repository.registration import Registration, Source
from convoy.events.session_events import SessionReady
from convoy.log import body_of
from convoy.model import ids
from grite import git
from grite.event import CommentAdded, Event

RESULTS, EVENTS = 50, 20
NAME: Final = "fifty"
BEGUN_MS: Final = 1_700_000_000_000


@dataclass(frozen=True)
class Result:
    """What a session left."""

    number: int
    commit: str
    bundle: Path

    @property
    def session(self) -> str:
        """Who speaks for it."""
        return f"{self.number:032x}"

    @property
    def branch(self) -> str:
        """Where its work goes."""
        return f"refs/heads/{ids.task_branch(NAME, self.number)}"

    @property
    def events(self) -> list[Event]:
        """What it says of itself."""
        issue, actor = ids.issue_of(NAME, self.number), bytes.fromhex(self.session)
        claim = SessionReady(convoy=NAME, task=self.number, attempt=1)
        body = body_of(claim, claim.sentence())
        return [
            Event(issue, actor, BEGUN_MS + k, CommentAdded(body)) for k in range(EVENTS)
        ]


@dataclass(frozen=True)
class Place:
    """A forge with one project, and fifty results for it."""

    folder: Path
    known: Registration
    base: str
    results: list[Result]

    @property
    def bare(self) -> Path:
        """The forge's repository."""
        return registrations.bare_path(self.folder, self.known)

    def url(self, forge: str) -> str:
        """Where the forge at this address has it."""
        return f"{forge}/{self.known.repository}.git"


def make(folder: Path) -> Place:
    """Make a forge with a project, and the work of fifty sessions as bundles."""
    folder.mkdir()
    origin = bare_loop.make_origin(folder, None)
    known = registrations.register(
        folder, Source(path=origin, branch="main", name="project", person="you")
    )
    work = folder / "work"
    bare_loop.call("git", "clone", "-q", str(origin), str(work), cwd=folder)
    base = git.run(["rev-parse", "HEAD"], cwd=work).stdout.decode().strip()
    found = []
    for number in range(1, RESULTS + 1):
        bare_loop.call("git", "checkout", "-q", "--detach", base, cwd=work)
        (work / f"{number}.txt").write_text(f"{number}\n" * 50, encoding="utf-8")
        bare_loop.call("git", "add", "--all", cwd=work)
        bare_loop.call("git", "commit", "-q", "-m", f"Do task {number}", cwd=work)
        commit = git.run(["rev-parse", "HEAD"], cwd=work).stdout.decode().strip()
        bundle = folder / f"{number}.bundle"
        spec = ("HEAD", f"^{base}")
        bare_loop.call("git", "bundle", "create", "-q", str(bundle), *spec, cwd=work)
        bare_loop.call("git", "branch", "-q", f"keep-{number}", cwd=work)
        found.append(Result(number, commit, bundle))
    return Place(folder, known, base, found)
