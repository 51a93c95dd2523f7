"""A second reader of the log: plain git, a library of CBOR, the format's description.

It shares no line with the packages: both can only agree when the bytes are right.
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

import cbor2

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
        read += [
            Row(commit, actor.hex(), at_ms, kind, payload)
            for _, _, actor, at_ms, _, kind, payload, _ in events(chunk)
        ]
    return read


def events(chunk: bytes) -> list[list[Any]]:
    """Return the events of a chunk, eight parts each; a wrong id is an error."""
    assert chunk.startswith(HEADER)
    found: list[list[Any]] = cbor2.loads(chunk[len(HEADER) :])
    for name, *parts, _ in found:
        assert digest(cbor2.dumps([1, *parts])) == name.hex()
    return found


def digest(data: bytes) -> str:
    """Return BLAKE2b-256 in hex."""
    return blake2b(data, digest_size=32).hexdigest()
