"""The merges of a history that git cannot make by itself, and what people made of them.

Both parents of each commit that has two are merged again, by git alone, without a work
tree. Nothing is written into the history: new objects go to a scratch repository beside
it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

import pygit2
from pygit2.enums import AttrCheck

from grite import git
from grite.errors import GitFailed

ONE_READ: int = 200
"""So many merges are asked of one git process."""
LARGEST: int = 1_000_000
"""A file of more bytes is not merged by its lines."""
_DEADLINE_S: float = 600.0


@dataclass(frozen=True, kw_only=True)
class ConflictFile:
    """A file that both sides have, with text that git could not merge."""

    path: str
    base: bytes
    """What both began with; empty where both added the file."""
    ours: bytes
    theirs: bytes
    committed: bytes | None
    """What the merge that people made holds there; None where it has no such file."""
    driver: str | None = None
    """What our side's .gitattributes names as `merge=` for it."""


@dataclass(frozen=True, kw_only=True)
class ConflictingMerge:
    """A merge that git leaves to people."""

    commit: str
    ours: str
    theirs: str
    files: tuple[ConflictFile, ...]
    others: int
    """Conflicts that are not about lines: deleted beside changed, renamed, binary."""


@dataclass(frozen=True, kw_only=True)
class Merge:
    """A commit with two parents."""

    commit: str
    ours: str
    theirs: str


class History:
    """A repository, read with its merges, the newest first; `scratch` is not there yet.

    Args:
        repository: with its objects; nothing is written there.
        head: the commit whose history counts.
        scratch: where the merges' objects go.
    """

    def __init__(self, repository: Path, head: str, scratch: Path) -> None:
        self.scratch = scratch
        self._head = head
        said = git.run(
            ["rev-parse", "--path-format=absolute", "--git-common-dir"], cwd=repository
        )
        objects = Path(said.stdout.decode().strip()) / "objects"
        pygit2.init_repository(str(scratch), bare=True)
        alternates = scratch / "objects" / "info" / "alternates"
        alternates.write_text(f"{objects}\n")
        self.repo = pygit2.Repository(str(scratch))

    def merges(self) -> list[Merge]:
        """Return every commit of two parents that have a common ancestor."""
        argv = ["rev-list", "--parents", "--min-parents=2", "--max-parents=2"]
        said = git.run([*argv, self._head], cwd=self.scratch, deadline_s=_DEADLINE_S)
        rows = [line.split() for line in said.stdout.decode().splitlines()]
        return [
            Merge(commit=commit, ours=ours, theirs=theirs)
            for commit, ours, theirs in rows
            if self.repo.merge_base(ours, theirs)
        ]

    def conflicting(self, merges: Sequence[Merge]) -> Iterator[ConflictingMerge]:
        """Give those of the merges that git cannot make; blocking, for minutes."""
        for start in range(0, len(merges), ONE_READ):
            some = merges[start : start + ONE_READ]
            for merge, said in zip(some, self._merged(some), strict=True):
                if said and said[0] == b"0":
                    yield self._conflict(merge, said[2:])

    def _merged(self, merges: Sequence[Merge]) -> list[list[bytes]]:
        """Merge all by one process; one by one where a snapshot lacks an object."""
        try:
            return self._asked(merges)
        except GitFailed:
            if len(merges) == 1:
                return [[]]
            half = len(merges) // 2
            return [*self._merged(merges[:half]), *self._merged(merges[half:])]

    def _asked(self, merges: Sequence[Merge]) -> list[list[bytes]]:
        asked = "".join(f"{each.ours} {each.theirs}\n" for each in merges)
        said = git.run(
            ["merge-tree", "--stdin", "--no-messages", "-z"],
            cwd=self.scratch,
            stdin=asked.encode(),
            deadline_s=_DEADLINE_S,
        )
        return [*records(said.stdout)]

    def _conflict(self, merge: Merge, rows: Sequence[bytes]) -> ConflictingMerge:
        staged: dict[str, dict[int, tuple[int, str]]] = {}
        for row in rows:
            about, _, path = row.partition(b"\t")
            mode, blob, stage = about.decode().split()
            sides = staged.setdefault(path.decode(errors="surrogateescape"), {})
            sides[int(stage)] = (int(mode, 8), blob)
        files = [self._file(merge, path, sides) for path, sides in staged.items()]
        found = tuple(each for each in files if each)
        return ConflictingMerge(
            commit=merge.commit,
            ours=merge.ours,
            theirs=merge.theirs,
            files=found,
            others=len(files) - len(found),
        )

    def _file(
        self, merge: Merge, path: str, sides: dict[int, tuple[int, str]]
    ) -> ConflictFile | None:
        if not {2, 3} <= sides.keys():
            return None
        if not all(S_ISREG(mode) for mode, _ in sides.values()):
            return None
        texts = {stage: self._blob(blob) for stage, (_, blob) in sides.items()}
        if any(b"\0" in text or len(text) > LARGEST for text in texts.values()):
            return None
        return ConflictFile(
            path=path,
            base=texts.get(1, b""),
            ours=texts[2],
            theirs=texts[3],
            committed=self._text(merge.commit, path),
            driver=self._driver(merge.ours, path),
        )

    def _blob(self, name: str) -> bytes:
        found = self.repo[name]
        return found.data if isinstance(found, pygit2.Blob) else b"\0"

    def _driver(self, commit: str, path: str) -> str | None:
        how = AttrCheck.NO_SYSTEM | AttrCheck.INCLUDE_COMMIT
        said = self.repo.get_attr(path, "merge", how, commit)
        return said if isinstance(said, str) else None

    def _text(self, commit: str, path: str) -> bytes | None:
        try:
            found = self.repo[commit].peel(pygit2.Tree)[path]
        except (KeyError, UnicodeEncodeError):
            return None
        return found.data if isinstance(found, pygit2.Blob) else None


def records(said: bytes) -> Iterator[list[bytes]]:
    """Read `1 TREE` and `0 TREE STAGED...`, each with an empty field at its end.

    https://git-scm.com/docs/git-merge-tree#_input_format
    """
    record: list[bytes] = []
    for each in said.split(b"\0"):
        if each:
            record.append(each)
        elif record:
            yield record
            record = []
