"""A second reader, written from the description of grite's own alone.

It has grite's ways: it follows `prev_wal` and not the commit's parent, it turns the
whole list around at the end, it verifies nothing, it ignores what comes after the
array, and one unknown kind makes it give up.
"""

import json
from pathlib import Path
from typing import Any

from grite import git
from tests.world.second_reader import value

KINDS = range(1, 15)


def shown(repo: Path, *args: str) -> bytes:
    return git.run(args, cwd=repo).stdout


def chunk_events(data: bytes) -> list[list[Any]]:
    assert data[:8] == b"GRITECNK"
    assert data[8:10] == b"\x01\x00"
    assert data[10:18] == b"\x07cbor-v1"
    events, _ = value(data, 18)
    for event in events:
        if event[5] not in KINDS:
            raise ValueError(f"kind {event[5]}")
    return list(events)


def read(repo: Path, head: str) -> list[list[Any]]:
    found: list[list[Any]] = []
    at: str | None = head
    while at is not None:
        names = shown(repo, "ls-tree", "-r", "--name-only", at).decode().split()
        for name in names:
            if name.endswith(".bin"):
                found += chunk_events(shown(repo, "cat-file", "blob", f"{at}:{name}"))
        at = json.loads(shown(repo, "cat-file", "blob", f"{at}:meta.json"))["prev_wal"]
    return found[::-1]
