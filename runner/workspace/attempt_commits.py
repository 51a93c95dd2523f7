"""Turns what an attempt leaves into commits: the agent's own, and one for the rest.

It works on whatever the agent left: no `.git`, another history, half a file. The
agent's commits are kept if they descend from the base; if not, one commit on the base
holds all of the work.
"""

import math
import os
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from convoy.gate.leaks import leaks
from convoy.gate.patch import Change, in_words, named, parse_raw
from convoy.model.records import Gate
from convoy.text.commit_message import SIGNED_OFF
from convoy.text.redaction import NO_SECRETS, Redaction
from grite import git
from grite.errors import BratError, GitFailed, Unavailable
from runner.box.engine_home import left_in
from runner.workspace import bare_repository
from runner.workspace.alternates import has_foreign_objects
from runner.workspace.workspace import Workspace

BUNDLE_LIMIT = 80_000_000
"""Bytes; a result over 100 MB is refused unread."""

LIGHT_BYTES = 40_000_000
"""How much of work over that limit is kept: its smallest files, as they are."""

AGENT_FETCH_S = 20.0
"""For fetching the agent's own commits, from a repository that may be a trap."""

MEMORY_BYTES = 1_000_000_000
"""The limit for each git process: a tree of a few bytes can stand for 10^10 files."""

PATCH_BYTES = 10_000_000
"""How much of a patch is searched for secrets; no gate lets a longer patch pass."""

PATCH = "patch"
"""The file in the store that holds the whole change, as `git apply` takes it."""
_AGENT = "refs/brat/agent"
_DIFF = ("diff-tree", "-r", "--no-renames", "--no-ext-diff", "--no-textconv")
_TREES = (*_DIFF, "--raw", "-z", "--root")


class Work(Struct, frozen=True):
    """The work of an attempt."""

    commit: str | None = None
    """The newest commit; None: there is none besides the base."""
    changes: tuple[Change, ...] = ()
    """The changes against the base."""
    between: tuple[Change, ...] = ()
    """Changes of single commits that later commits undid."""
    patch_bytes: int = 0
    bundle: Path | None = None
    """The bundle of all commits from the base on; it may be moved away."""
    faults: tuple[str, ...] = ()
    """A sentence on each part of the work that could not be kept."""
    leftover: bool = False
    """Whether the witness had to commit some of the work."""
    largest: str = ""
    """The largest file that it adds or changes, in words; empty: none is there."""
    oversized: str = ""
    """Why not all of it could be kept, a sentence; empty: all could."""
    leaks: tuple[str, ...] = ()
    """Sentences on what looks like a secret in it; if there are any, nothing is
    kept."""


def without_leaks(
    work: Work, workspace: Workspace, gate: Gate, known: Redaction = NO_SECRETS
) -> Work:
    """Return the work, but without its commits if they would show a secret.

    Call it after `AttemptCommits.keep`, in the same workspace.
    """
    patch = workspace.store / PATCH
    if not patch.is_file():
        return work
    with patch.open("rb") as source:
        told = leaks("The patch", source.read(PATCH_BYTES), gate, known)
    return replace(work, commit=None, bundle=None, leaks=told) if told else work


def sizes_of(changes: Iterable[Change], folder: Path) -> list[tuple[str, int]]:
    """Return what lies in a folder of the changed files, with sizes, largest first."""
    found = []
    for each in changes:
        with suppress(OSError, ValueError):
            status = os.lstat(os.path.join(folder, each.path))  # noqa: PTH118
            if stat.S_ISREG(status.st_mode):
                found.append((each.path, status.st_size))
    return sorted(found, key=lambda one: one[1], reverse=True)


class CommitMessage(Struct, frozen=True):
    """The message of the witness's commit."""

    title: str
    trailer: str
    half_done: bool = False
    """Whether the agent was ended, or failed, before it was done."""

    def text(self) -> str:
        """Return the whole message."""
        title = " ".join(self.title.split())[:200] or "Work of an agent"
        mark = "Brat-Half-Done: yes\n" if self.half_done else ""
        return f"{title}\n\n{self.trailer}\n{mark}{SIGNED_OFF}\n"


class AttemptCommits:
    """The work of one workspace, once its agent has ended."""

    def __init__(
        self, workspace: Workspace, budget_s: float, litter: tuple[str, ...] = ()
    ) -> None:
        """Leave out new files that `litter` names, patterns as in .gitignore."""
        self._workspace = workspace
        self._litter = litter
        self._deadline = time.monotonic() + budget_s

    def keep(self, message: CommitMessage) -> Work:
        """Commit all uncommitted work, and bundle all new commits.

        Never raises because of what the agent did: the result says what could not be
        kept.
        """
        folder = self._workspace.folder
        # In a box the folder is a mount, so it can only be emptied.
        is_there = folder.is_dir() and not folder.is_symlink()
        if not is_there or not any(folder.iterdir()):
            return Work(faults=("The agent removed its workspace.",))
        try:
            return self._keep(message)
        except (BratError, OSError, ValueError) as error:
            return Work(
                faults=(f"The work could not be kept: {str(error).rstrip('.')}.",)
            )

    def _keep(self, message: CommitMessage) -> Work:
        workspace = self._workspace
        bare_repository.configure(workspace.store)
        bare_repository.ignore(workspace.store, self._litter)
        head = self._agents_commit() or workspace.base
        bare_repository.point(workspace.store, workspace.ref, head)
        own = head
        faults = self._commit_the_rest(message)
        head = bare_repository.value(workspace.store, workspace.ref)
        leftover = head != own
        if head == workspace.base:
            return Work(faults=faults)
        changes = parse_raw(self._diff("--raw", "-z"))
        bundle = workspace.store / "work.bundle"
        self._git(
            "bundle", "create", "--quiet", str(bundle), "HEAD", f"^{workspace.base}"
        )
        sizes = sizes_of(changes, workspace.folder)
        largest = in_words(*sizes[0]) if sizes else ""
        size = bundle.stat().st_size
        if size > BUNDLE_LIMIT:
            work = self._lighter(message, sizes, bundle)
            said = f"The work has {size} bytes, most of them in {largest}"
            return replace(
                work,
                changes=changes,
                patch_bytes=size,
                faults=faults,
                leftover=leftover,
                largest=largest,
                oversized=f"{said}; {BUNDLE_LIMIT} can be kept.{work.oversized}",
            )
        return Work(
            head,
            changes,
            () if own == workspace.base else self._between(changes),
            self._patch_bytes(),
            bundle,
            faults,
            leftover=leftover,
            largest=largest,
        )

    def _lighter(
        self, message: CommitMessage, sizes: Sequence[tuple[str, int]], bundle: Path
    ) -> Work:
        """Bundle the work again, as one commit without its largest files."""
        room = LIGHT_BYTES
        gone = [path for path, size in reversed(sizes) if (room := room - size) < 0]
        base = self._workspace.base
        self._git("read-tree", "HEAD")
        for path in gone:
            was = self._git("ls-tree", "-z", base, "--", f":(literal){path}").stdout
            entry = was or b"0 " + b"0" * 40 + b"\t" + os.fsencode(path) + b"\0"
            self._git("update-index", "-z", "--index-info", stdin=entry)
        tree = self._git("write-tree").stdout.decode().strip()
        if self._says_yes("diff", "--quiet", base, tree):
            return Work(oversized=" Nothing else was left.")
        commit = ("commit-tree", tree, "-p", base, "-F", "-")
        made = self._git(*commit, stdin=message.text().encode(errors="replace"))
        head = made.stdout.decode().strip()
        bare_repository.point(self._workspace.store, self._workspace.ref, head)
        self._git("bundle", "create", "--quiet", str(bundle), "HEAD", f"^{base}")
        if bundle.stat().st_size > BUNDLE_LIMIT:
            return Work(oversized=" None of it is.")
        self._patch_bytes()  # which is then searched for secrets
        said = f" The rest is kept without {named(gone[::-1])}."
        return Work(head, bundle=bundle, oversized=said)

    def _agents_commit(self) -> str | None:
        """Return the agent's HEAD if the work can be built on it."""
        workspace = self._workspace
        theirs = workspace.folder / ".git"
        head = theirs / "HEAD"
        if theirs.is_symlink() or head.is_symlink() or not head.is_file():
            return None
        at = (left_in(theirs, each).strip() for each in ("HEAD", workspace.ref))
        if (f"ref: {workspace.ref}", workspace.base) == tuple(at):
            return None  # it committed nothing
        if has_foreign_objects(theirs):
            return None
        fetch = ("-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags")
        specs = ("--no-write-fetch-head", "--", str(theirs), f"+HEAD:{_AGENT}")
        try:
            fetched = self._git(*fetch, *specs, check=False, limit_s=AGENT_FETCH_S)
        except Unavailable:
            return None
        if fetched.status != 0:
            return None
        commit = bare_repository.value(workspace.store, _AGENT)
        if commit == workspace.base:
            return None
        if not self._says_yes("merge-base", "--is-ancestor", workspace.base, commit):
            return None
        # Keeps the stat data of what did not change, and asks nothing of the files.
        self._git("read-tree", "-i", "-m", commit)
        return commit

    def _commit_the_rest(self, message: CommitMessage) -> tuple[str, ...]:
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
        """Whether there is nothing to commit, which git reports like a fault."""
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
        patch = self._workspace.store / PATCH
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
