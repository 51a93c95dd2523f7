"""Commits of a made-up project, written straight into a bare repository."""

from collections.abc import Mapping
from pathlib import Path

import pygit2

from grite import git
from grite.remote import ensure_mirror

ANN, BEA = ("Ann", "ann@example.org"), ("Béa", "bea@example.org")
T0 = 1_700_000_000


class History:
    def __init__(self, path: Path) -> None:
        ensure_mirror(path)
        self.path = path
        self.repo = pygit2.Repository(str(path))

    def commit(
        self,
        files: Mapping[str, bytes],
        *parents: str,
        message: str = "Change it\n",
        by: tuple[str, str] = ANN,
        at: int = T0,
    ) -> str:
        """Commit `files` and nothing else; a name that ends in * is executable."""
        index = pygit2.Index()
        for name, data in files.items():
            mode = pygit2.enums.FileMode.BLOB
            if name.endswith("*"):
                mode = pygit2.enums.FileMode.BLOB_EXECUTABLE
            blob = self.repo.create_blob(data)
            index.add(pygit2.IndexEntry(name.rstrip("*"), blob, mode))
        who = pygit2.Signature(*by, at, 60)
        tree = index.write_tree(self.repo)
        made = self.repo.create_commit(None, who, who, message, tree, list(parents))
        return str(made)

    def raw(self, kind: str, data: bytes) -> str:
        args = ["hash-object", "--literally", "-t", kind, "-w", "--stdin"]
        return git.run(args, cwd=self.path, stdin=data).stdout.decode().strip()

    def point(self, ref: str, commit: str) -> None:
        self.repo.references.create(ref, commit, force=True)

    def files(self, commit: str) -> dict[str, bytes]:
        tree = self.at(commit).tree
        return {
            str(item.name): item.data for item in tree if isinstance(item, pygit2.Blob)
        }

    def at(self, commit: str) -> pygit2.Commit:
        return self.repo[commit].peel(pygit2.Commit)
