"""A second reader, written from the description of grite's own alone.

It has grite's ways: it follows `prev_wal` and not the commit's parent, it turns the
whole list around at the end, it verifies nothing, it ignores what comes after the
array, and one unknown kind makes it give up.
"""

import json
from pathlib import Path
from typing import Any

from grite import git

KINDS = range(1, 15)


def shown(repo: Path, *args: str) -> bytes:
    return git.run(args, cwd=repo).stdout


def one(data: bytes, at: int) -> tuple[Any, int]:
    """Decode one CBOR item; return it and where it ends."""
    major, info = data[at] >> 5, data[at] & 31
    at += 1
    if (major, info) == (7, 22):
        return None, at
    size = info
    if info > 23:
        width = 1 << (info - 24)
        size = int.from_bytes(data[at : at + width], "big")
        at += width
    match major:
        case 0:
            return size, at
        case 2:
            return data[at : at + size], at + size
        case 3:
            return data[at : at + size].decode(), at + size
        case 4:
            items = []
            for _ in range(size):
                item, at = one(data, at)
                items.append(item)
            return items, at
        case _:
            raise ValueError(f"major type {major}")


def chunk_events(data: bytes) -> list[list[Any]]:
    assert data[:8] == b"GRITECNK"
    assert data[8:10] == b"\x01\x00"
    assert data[10:18] == b"\x07cbor-v1"
    events, _ = one(data, 18)
    for event in events:
        if event[5] not in KINDS:
            raise ValueError(f"kind {event[5]}")
    return list(events)


def read(repo: Path, head: str) -> list[list[Any]]:
    """Return the events of the log as rows of eight."""
    found: list[list[Any]] = []
    at: str | None = head
    while at is not None:
        names = shown(repo, "ls-tree", "-r", "--name-only", at).decode().split()
        for name in names:
            if name.endswith(".bin"):
                found += chunk_events(shown(repo, "cat-file", "blob", f"{at}:{name}"))
        at = json.loads(shown(repo, "cat-file", "blob", f"{at}:meta.json"))["prev_wal"]
    return found[::-1]
