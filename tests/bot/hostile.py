"""Commits that no honest agent makes, in a bundle: each brings down what trusts it."""

import hashlib
import zlib
from collections.abc import Mapping
from pathlib import Path

import pygit2

from convoy.model.session_result import SIDE_REF
from convoy.text import AUTHOR
from grite import git
from tests.bot.history import History

WHO = "{} <{}>".format(*AUTHOR)
LEVELS = 10
DEEP = 3_000
BOMB_BYTES = 8_000_000_000
_PIECE = 16_777_215
"""What one instruction of a delta can copy."""
_BLOB, _DELTA = 3, 7
"""Kinds of a pack's entries: https://git-scm.com/docs/gitformat-pack"""


class Work:
    """An agent's repository on a base that it was given."""

    def __init__(self, folder: Path, origin: Path, base: str) -> None:
        self.origin = History(origin)
        self.history = History(folder / "work.git")
        git.run(["fetch", "--quiet", str(origin), base], cwd=self.history.path)
        self.base = base
        self.folder = folder

    def bundled(self, commit: str, *without: str, beside: str = "") -> bytes:
        self.history.point("refs/heads/main", commit)
        self.history.point(SIDE_REF, beside or commit)
        bundle = self.folder / "work.bundle"
        known = [f"^{one}" for one in without or (self.base,)]
        args = ["bundle", "create", "--quiet", str(bundle), "HEAD", *known]
        git.run([*args, *[SIDE_REF] * bool(beside)], cwd=self.history.path)
        return bundle.read_bytes()

    def commit(
        self, files: Mapping[str, bytes | None], parent: str, message: str = "x\n"
    ) -> str:
        """Commit changed files on a parent; None takes one away."""
        index = pygit2.Index()
        index.read_tree(self.history.at(parent).tree)
        for name, data in files.items():
            if data is None:
                index.remove(name)
            else:
                mode = pygit2.enums.FileMode.BLOB
                index.add(pygit2.IndexEntry(name, self.blob_id(data), mode))
        tree = str(index.write_tree(self.history.repo))
        return self.on_base(tree, parent, message=message)

    def on_base(self, tree: str, *parents: str, message: str = "x\n") -> str:
        lines = "".join(f"parent {each}\n" for each in parents or (self.base,))
        who = f"{WHO} {self.history.at(self.base).committer.time} +0000"
        text = f"tree {tree}\n{lines}author {who}\ncommitter {who}\n\n{message}"
        return self.history.raw("commit", text.encode())

    def tree(self, *entries: tuple[str, str, str]) -> str:
        data = b"".join(
            f"{mode} {name}\0".encode() + bytes.fromhex(held)
            for mode, name, held in entries
        )
        return str(self.history.repo.write(pygit2.enums.ObjectType.TREE, data))

    def blob(self, data: bytes = b"x\n") -> str:
        return str(self.blob_id(data))

    def blob_id(self, data: bytes) -> pygit2.Oid:
        return self.history.repo.create_blob(data)

    def tree_bomb(self) -> str:
        """Commit ten folders of ten folders and so on: 10,000,000,000 files."""
        held, mode = self.blob(), "100644"
        for _ in range(LEVELS):
            held = self.tree(*((mode, f"n{number}", held) for number in range(10)))
            mode = "40000"
        return self.on_base(held)

    def deep_tree(self) -> str:
        """Commit a file in thousands of folders in each other."""
        held, mode = self.blob(), "100644"
        for _ in range(DEEP):
            held, mode = self.tree((mode, "d", held)), "40000"
        return self.on_base(held)

    def delta_bomb(self) -> bytes:
        """Return a bundle of a few kilobytes that unpacks to gigabytes of memory."""
        commit = self.on_base(self.tree(("100644", "f", self.blob(bytes(_PIECE)))))
        count = BOMB_BYTES // _PIECE
        # Copy from offset 0 the most that one instruction can, again and again.
        copies = b"\xf0\xff\xff\xff" * count
        delta = _size(_PIECE) + _size(count * _PIECE) + copies
        first = _size(_PIECE, _BLOB, 4) + zlib.compress(bytes(_PIECE))
        base = bytes.fromhex(self.blob(bytes(_PIECE)))
        second = _size(len(delta), _DELTA, 4) + base + zlib.compress(delta)
        version = objects = (2).to_bytes(4, "big")
        body = b"PACK" + version + objects + first + second
        body += hashlib.sha1(body).digest()  # noqa: S324  what a pack ends with
        return b"# v2 git bundle\n" + f"{commit} HEAD\n\n".encode() + body


def _size(value: int, kind: int = 0, bits: int = 7) -> bytes:
    """Return a size as packs hold it; so many bits are in the first byte."""
    out = bytearray([(kind << 4) | (value & ((1 << bits) - 1))])
    value >>= bits
    while value:
        out[-1] |= 0x80
        out.append(value & 0x7F)
        value >>= 7
    return bytes(out)
