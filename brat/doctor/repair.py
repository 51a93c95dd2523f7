"""`brat doctor --fix`: remove caches and locks that are of no use.

History stays as it is, and a ref that somebody moves meanwhile is left alone.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pygit2

from brat.repository.log_reader import CACHE, Reader, wrong_checkpoints
from convoy.log.record import follow
from grite import git, lease
from grite.errors import Corrupt, GitFailed
from grite.wal import Log

GRACE_MS: Final = 300_000
"""A lock is stale this long after it expired: clocks may differ by that much."""


def repair(bare: Path, now: int) -> tuple[str, ...]:
    """Remove useless refs and caches from a repository; safe to call again.

    It removes checkpoints that differ from the folded log, if the log is complete and
    sound; lock refs that hold no lock or an expired one; and the cache of an earlier
    reading, if it cannot be used.

    Args:
        bare: the repository.
        now: unix ms.

    Returns:
        One sentence for each repair; a second call returns none.
    """
    repo = pygit2.Repository(str(bare))
    wrong = {**_wrong_checkpoints(bare), **dict(_stale_locks(repo, now))}
    done = [
        f"removed {ref}: {why}"
        for ref, why in wrong.items()
        if _removed(bare, ref, str(repo.references[ref].target))
    ]
    return (*done, *_kept_anew(bare))


def _wrong_checkpoints(bare: Path) -> dict[str, str]:
    log = Log(bare)
    head = log.head()
    if head is None or log.missing(head) is not None or follow(log, head).faults:
        return {}  # a checkpoint may know what the log here no longer says
    return wrong_checkpoints(bare)


def _stale_locks(repo: pygit2.Repository, now: int) -> Iterator[tuple[str, str]]:
    for ref in repo.listall_references():
        if not ref.startswith(lease.LOCKS):
            continue
        try:
            lock = lease.read(repo, str(repo.references[ref].target))
        except Corrupt as error:
            yield ref, f"it holds no lock: {error}"
        else:
            if lock.expires_ms + GRACE_MS <= now:
                yield ref, f"the lock on {lock.resource} ran out"


def _removed(bare: Path, ref: str, commit: str) -> bool:
    with contextlib.suppress(GitFailed):  # somebody moved it: then it is not ours
        git.run(["update-ref", "-d", ref, commit], cwd=bare)
        return True
    return False


def _kept_anew(bare: Path) -> Iterator[str]:
    reader = Reader(bare)
    with contextlib.suppress(Corrupt):  # the log's own faults are said elsewhere
        reader.read()
    folder = bare / CACHE
    if any(notice.startswith(str(folder)) for notice in reader.notices):
        for file in folder.iterdir():
            file.unlink(missing_ok=True)
        with contextlib.suppress(Corrupt):
            Reader(bare).read()
        yield f"read the log anew: {folder} was of no use"
