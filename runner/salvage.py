"""What is left of an attempt, as commits: the agent's own, the witness's for the rest.

Works on whatever the agent left: no `.git`, another history, half a file. The agent's
commits are kept if they descend from the base; else all is folded into one commit on
the base, by its tree.
"""

import math
import time
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from convoy.events import Gate
from convoy.gate import Change, parse_raw
from convoy.leaks import leaks
from convoy.text.redaction import NO_SECRETS, Redaction
from grite import git
from grite.errors import BratError, GitFailed, Unavailable
from runner import store
from runner.borrowed import borrows
from runner.home import left_in
from runner.workspace import Workspace

BUNDLE_LIMIT = 80_000_000
"""Bytes; a result over 100 MB is refused unread."""

AGENT_FETCH_S = 20.0
"""For the agent's own commits, out of a repository that may have become a trap."""

MEMORY_BYTES = 1_000_000_000
"""For each git: a tree of a few bytes may name itself until it has 10^10 files."""

PATCH_BYTES = 10_000_000
"""How much of a patch is looked through for secrets; no gate lets more through."""

_PATCH = "patch"
_AGENT = "refs/brat/agent"
_DIFF = ("diff-tree", "-r", "--no-renames", "--no-ext-diff", "--no-textconv")
_TREES = (*_DIFF, "--raw", "-z", "--root")


class Work(Struct, frozen=True):
    """What an attempt leaves."""

    commit: str | None = None
    """The newest one; None when there is none that is not the base."""
    changes: tuple[Change, ...] = ()
    """Against the base."""
    between: tuple[Change, ...] = ()
    """By commits on the way, of which nothing is left behind them."""
    patch_bytes: int = 0
    bundle: Path | None = None
    """All commits from the base on; it may be moved away."""
    faults: tuple[str, ...] = ()
    """What could not be kept, a sentence each."""
    leftover: bool = False
    """Whether the witness had to commit some of it."""
    leaks: tuple[str, ...] = ()
    """What looks like a secret in it, a sentence; then nothing of it is kept."""


def spared(
    work: Work, workspace: Workspace, gate: Gate, known: Redaction = NO_SECRETS
) -> Work:
    """Return the work, but without its commits if they would show a secret.

    Call it after `Salvage.keep`, in the same workspace.
    """
    patch = workspace.store / _PATCH
    if not patch.is_file():
        return work
    with patch.open("rb") as source:
        told = leaks("The patch", source.read(PATCH_BYTES), gate, known)
    return replace(work, commit=None, bundle=None, leaks=told) if told else work


class Message(Struct, frozen=True):
    """What the witness's commit says."""

    title: str
    trailer: str
    half_done: bool = False
    """Whether the agent was ended, or failed, in the midst of it."""

    def text(self) -> str:
        """Return the whole message."""
        title = " ".join(self.title.split())[:200] or "Work of an agent"
        mark = "Brat-Half-Done: yes\n" if self.half_done else ""
        return f"{title}\n\n{self.trailer}\n{mark}"


class Salvage:
    """The work of one workspace, once its agent has ended."""

    def __init__(
        self, workspace: Workspace, budget_s: float, litter: tuple[str, ...] = ()
    ) -> None:
        """Leave out new files that `litter` names, patterns as in .gitignore."""
        self._workspace = workspace
        self._litter = litter
        self._deadline = time.monotonic() + budget_s

    def keep(self, message: Message) -> Work:
        """Commit what is not committed and bundle all new commits.

        Never raises for what the agent did: what could not be kept is said.
        """
        folder = self._workspace.folder
        # In a box it can only be emptied: it is a mount there.
        is_there = folder.is_dir() and not folder.is_symlink()
        if not is_there or not any(folder.iterdir()):
            return Work(faults=("The agent removed its workspace.",))
        try:
            return self._keep(message)
        except (BratError, OSError, ValueError) as error:
            return Work(
                faults=(f"The work could not be kept: {str(error).rstrip('.')}.",)
            )

    def _keep(self, message: Message) -> Work:
        workspace = self._workspace
        store.configure(workspace.store)
        store.ignore(workspace.store, self._litter)
        head = self._agents_commit() or workspace.base
        store.point(workspace.store, workspace.ref, head)
        own = head
        faults = self._commit_the_rest(message)
        head = store.value(workspace.store, workspace.ref)
        leftover = head != own
        if head == workspace.base:
            return Work(faults=faults)
        changes = parse_raw(self._diff("--raw", "-z"))
        bundle = workspace.store / "work.bundle"
        self._git(
            "bundle", "create", "--quiet", str(bundle), "HEAD", f"^{workspace.base}"
        )
        size = bundle.stat().st_size
        if size > BUNDLE_LIMIT:
            fault = f"The commits have {size} bytes; {BUNDLE_LIMIT} can be kept."
            said = (*faults, fault)
            return Work(None, changes, patch_bytes=size, faults=said, leftover=leftover)
        return Work(
            head,
            changes,
            () if own == workspace.base else self._between(changes),
            self._patch_bytes(),
            bundle,
            faults,
            leftover=leftover,
        )

    def _agents_commit(self) -> str | None:
        """Return the agent's HEAD if it is one to build on."""
        workspace = self._workspace
        theirs = workspace.folder / ".git"
        head = theirs / "HEAD"
        if theirs.is_symlink() or head.is_symlink() or not head.is_file():
            return None
        at = (left_in(theirs, each).strip() for each in ("HEAD", workspace.ref))
        if (f"ref: {workspace.ref}", workspace.base) == tuple(at):
            return None  # it committed nothing
        if borrows(theirs):
            return None
        fetch = ("-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags")
        specs = ("--no-write-fetch-head", "--", str(theirs), f"+HEAD:{_AGENT}")
        try:
            fetched = self._git(*fetch, *specs, check=False, limit_s=AGENT_FETCH_S)
        except Unavailable:
            return None
        if fetched.status != 0:
            return None
        commit = store.value(workspace.store, _AGENT)
        if commit == workspace.base:
            return None
        if not self._says_yes("merge-base", "--is-ancestor", workspace.base, commit):
            return None
        self._git("read-tree", "-m", commit)  # keeps what the index knows of the files
        return commit

    def _commit_the_rest(self, message: Message) -> tuple[str, ...]:
        added = self._git("add", "--all", "--ignore-errors", check=False)
        commit = ("commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-")
        text = message.text().encode(errors="replace")
        done = self._git(*commit, stdin=text, check=False)
        if done.status != 0 and not self._has_nothing():
            raise GitFailed(["git", *commit], done.status, done.stderr)
        if added.status == 0:
            return ()
        reason = added.stderr.strip().partition("\n")[0]
        return (f"Some files could not be kept: {reason}.",)

    def _has_nothing(self) -> bool:
        """Whether there is nothing to commit, which git tells as it tells a fault."""
        return self._git("diff", "--cached", "--quiet", "HEAD", check=False).status == 0

    def _between(self, lasting: tuple[Change, ...]) -> tuple[Change, ...]:
        kept = {(each.path, each.mode_after) for each in lasting}
        new = self._git("rev-list", f"^{self._workspace.base}", "HEAD").stdout
        if new.count(b"\n") < 2:  # noqa: PLR2004  where there is one step, it is the way
            return ()
        steps = self._git(*_TREES, "--stdin", "-m", "--no-commit-id", stdin=new).stdout
        changes = parse_raw(steps)
        return tuple(
            each for each in changes if (each.path, each.mode_after) not in kept
        )

    def _patch_bytes(self) -> int:
        patch = self._workspace.store / _PATCH
        self._diff("--patch", "--binary", f"--output={patch}")
        return patch.stat().st_size

    def _diff(self, *form: str) -> bytes:
        ends = self._workspace.base, "HEAD"
        return self._git(*_DIFF, *form, *ends).stdout

    def _says_yes(self, *args: str) -> bool:
        return self._git(*args, check=False).status == 0

    def _git(
        self,
        *args: str,
        stdin: bytes | None = None,
        check: bool = True,
        limit_s: float = math.inf,
    ) -> git.Completed:
        left_s = min(limit_s, max(0.1, self._deadline - time.monotonic()))
        return self._workspace.git(
            *args,
            deadline_s=left_s,
            stdin=stdin,
            check=check,
            memory_bytes=MEMORY_BYTES,
        )
