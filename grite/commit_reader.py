"""One commit of the log, read with the git program alone.

A runner needs a single hand-off, once: two short processes cost it less than loading a
library does. It gets all of the entry or an error, as half a hand-off is none.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from grite import chunk, git
from grite.errors import Corrupt
from grite.event import Event


def read_commit(
    repo: Path, commit: str, check: Callable[[bytes], None] = lambda _raw: None
) -> tuple[Event, ...]:
    """Return the events of one commit of the log, verified, in the chunk's order.

    Args:
        repo: any repository that has the commit; its history is not needed.
        commit: its full id.
        check: gets the commit's own bytes, before any event is read; what it raises
            is raised.

    Raises:
        Corrupt: it is no entry of the log, or something in it does not verify.
        GitFailed: git cannot read it; most likely it is not there.
        ValueError: `commit` is no full commit id.
    """
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", commit):
        raise ValueError(f"a commit is named by its full id, not {commit!r}")
    names = list(_chunks(repo, commit))
    wanted = "".join(f"{oid}\n" for oid in (commit, *(oid for oid, _ in names)))
    answer = git.run(["cat-file", "--batch"], cwd=repo, stdin=wanted.encode()).stdout
    raw, *chunks = _contents(answer, "commit", *("blob" for _ in names))
    check(raw)
    if not names:
        raise Corrupt(f"{commit} is no entry of the log: it holds no chunk")
    events: list[Event] = []
    for (_, name), data in zip(names, chunks, strict=True):
        found = chunk.verified(name, data)
        if found.faults:
            raise Corrupt(f"{commit} does not verify: {'; '.join(found.faults)}")
        events += found.events
    return tuple(events)


def _chunks(repo: Path, commit: str) -> Iterator[tuple[str, str]]:
    """Give the object id and the file name of each chunk."""
    listed = git.run(
        ["ls-tree", "-r", "-z", "--full-tree", commit, "events/"], cwd=repo
    ).stdout
    for line in listed.decode(errors="replace").split("\0"):
        meta, _, path = line.partition("\t")
        if path.endswith(chunk.SUFFIX):
            yield meta.split(" ")[2], path.rpartition("/")[2]


def _contents(answer: bytes, *kinds: str) -> Iterator[bytes]:
    """Give the content of each object in the answer of `cat-file --batch`.

    https://git-scm.com/docs/git-cat-file#_batch_output
    """
    at = 0
    for wanted in kinds:
        end = answer.index(b"\n", at)
        oid, kind, *size = answer[at:end].decode().split(" ")
        if kind != wanted:
            raise Corrupt(f"the {wanted} {oid} is {kind}")
        start, at = end + 1, end + 1 + int(size[0]) + 1
        yield answer[start : at - 1]
