"""Restores a log that was rewound, replaced or deleted on the remote.

The known chain stays as it is. Events only in the other chain are appended for people
to see; they were decided on another state and change nothing here.
"""

from hashlib import blake2b
from typing import Final

from bot.repository.clone import Clone
from grite import objects
from grite.errors import GitFailed, Missing, Rewritten
from grite.event import ID_BYTES
from grite.remote import RefUpdate
from grite.wal import WAL_REF, log_union

UNION: Final = blake2b(b"brat:union", digest_size=ID_BYTES).digest()
"""The actor of the appended chunks: it is no bot, so none of their events counts."""


def believed(clone: Clone, known: str, found: str | None) -> tuple[str, list[str]]:
    """Return the head up to which to read the log, and notices for people.

    The head is `found` if that descends from `known`, else the commit pushed instead.

    Args:
        clone: holds both chains.
        known: the newest commit that was ever believed.
        found: the log's head on the remote; None: the log is gone.

    Raises:
        Rewritten: the remote forbids the push, or the clone lacks a lost commit too.
        BratError: the remote's name now stands for another repository.
        Conflict: somebody else moved the log meanwhile.
        Unavailable: the remote did not answer.
    """
    if found is not None and _descends(clone, found, known):
        return found, []
    try:
        head = known if found is None else _union(clone, known, found)
        clone.confirm()  # else another repository that took the name would get the log
        clone.remote.push((RefUpdate(WAL_REF, head, found),))
    except (Missing, GitFailed) as error:
        said = (
            f"it cannot be put back: {error}. If it was meant so, stop the bot and "
            f"delete {clone.path}"
        )
        raise Rewritten(known, found, said) from error
    was = f"stood at {found}, not after {known}" if found else "was gone"
    said = (
        f"{WAL_REF} {was}; it was put back to {head}. If it was meant so, stop the "
        f"bot, delete {clone.path}, and do it again"
    )
    return head, [said]


def _descends(clone: Clone, found: str, known: str) -> bool:
    try:
        if clone.log.missing(found, since=known) is not None:
            clone.bring_log_again()
            clone.log.missing(found, since=known)
    except Rewritten:
        return False
    return True


def _union(clone: Clone, known: str, found: str) -> str:
    """Return a commit after `known` that also holds the events only in `found`.

    Deterministic: the same chains give the same commit.
    """
    at_ms = objects.commit_in(clone.objects, known).commit_time * 1000
    try:
        return _joined(clone, known, found, at_ms)
    except Missing:
        try:
            clone.bring_log_again(known)
        except GitFailed:  # the remote has lost it
            clone.bring_log_again()
        return _joined(clone, known, found, at_ms)


def _joined(clone: Clone, known: str, found: str, at_ms: int) -> str:
    # An event by the writer of the signed chunk would count as written there.
    return log_union(clone.log, found, known, actor=UNION, at_ms=at_ms, but=UNION)
