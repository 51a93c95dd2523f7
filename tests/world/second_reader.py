"""A second reader of the log: plain git, and the format's description alone.

It shares no line with the rooms, so that both can only agree when the bytes are right.
https://github.com/neul-labs/grite/blob/main/docs/git-wal.md
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

WAL = "refs/grite/wal"
HEADER = b"GRITECNK\x01\x00\x07cbor-v1"
COMMENT = 3
LINE = re.compile(r"\[brat\](.*)\[/brat\]\Z")


@dataclass(frozen=True)
class Row:
    """One event as it lies in the log."""

    commit: str
    actor: str
    at_ms: int
    kind: int
    payload: Any

    @property
    def fact(self) -> dict[str, Any] | None:
        """The brat event that the comment carries."""
        found = self.kind == COMMENT and LINE.search(self.payload[0])
        return dict(json.loads(found[1])) if found else None


def git(repo: Path, *args: str) -> bytes:
    """Run plain git, with nothing of this machine's configuration."""
    env = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "LC_ALL": "C",
    }
    done = subprocess.run(
        ["git", *args], cwd=repo, env=env, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def rows(repo: Path) -> list[Row]:
    """Return every event of the log, oldest first; all that is wrong is an error."""
    commits = git(repo, "rev-list", "--reverse", WAL).decode().split()
    read: list[Row] = []
    for before, commit in zip([None, *commits], commits, strict=False):
        names = git(repo, "ls-tree", "-r", "--name-only", commit).decode().split()
        (name,) = (name for name in names if name != "meta.json")
        found = re.fullmatch(r"events/\d{4}/\d\d/\d\d/([0-9a-f]{64})\.bin", name)
        assert found, name
        chunk = git(repo, "cat-file", "blob", f"{commit}:{name}")
        assert digest(chunk) == found[1], f"{commit}: wrong chunk hash"
        meta = json.loads(git(repo, "cat-file", "blob", f"{commit}:meta.json"))
        assert meta["schema_version"] == 1
        assert meta["chunk_hash"] == found[1]
        assert meta["prev_wal"] == before
        read += [row(commit, parts) for parts in events(chunk)]
    return read


def row(commit: str, parts: list[bytes]) -> Row:
    """Read one event from its eight parts, each still CBOR."""
    name, issue, actor, at_ms, parent, kind, payload, _ = parts
    preimage = b"\x87\x01" + issue + actor + at_ms + parent + kind + payload
    assert digest(preimage) == value(name)[0].hex(), f"{commit}: wrong event id"
    return Row(
        commit,
        value(actor)[0].hex(),
        value(at_ms)[0],
        value(kind)[0],
        value(payload)[0],
    )


def events(chunk: bytes) -> list[list[bytes]]:
    assert chunk.startswith(HEADER)
    count, at = head(chunk, len(HEADER))
    found = []
    for _ in range(count):
        size, at = head(chunk, at)
        parts = []
        for _ in range(size):
            _, end = value(chunk, at)
            parts.append(chunk[at:end])
            at = end
        found.append(parts)
    assert at == len(chunk)
    return found


def digest(data: bytes) -> str:
    """Return BLAKE2b-256 in hex."""
    return blake2b(data, digest_size=32).hexdigest()


def head(data: bytes, at: int) -> tuple[int, int]:
    """Return the number in a CBOR head, and where it ends."""
    info = data[at] & 31
    size = {24: 1, 25: 2, 26: 4, 27: 8}.get(info, 0)
    end = at + 1 + size
    return (int.from_bytes(data[at + 1 : end], "big") if size else info), end


def value(data: bytes, at: int = 0) -> tuple[Any, int]:
    """Return one CBOR value of the kinds that grite writes, and where it ends."""
    if data[at] == 0xF6:
        return None, at + 1
    major, (number, end) = data[at] >> 5, head(data, at)
    if major == 0:
        return number, end
    if major in {2, 3}:
        text = data[end : end + number]
        return (text if major == 2 else text.decode()), end + number
    assert major == 4, f"major type {major}"
    items = []
    for _ in range(number):
        item, end = value(data, end)
        items.append(item)
    return items, end
