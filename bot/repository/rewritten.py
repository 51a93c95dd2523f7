"""A log that was rewound, replaced or deleted on the remote: put back, and said so.

The known chain stays as it is. What only the other one held comes after it, kept for
people to see; it was decided on another state and changes nothing here.
"""

from hashlib import blake2b
from typing import Final

from bot.repository.clone import Clone
from grite import objects, sync
from grite.errors import GitFailed, Missing, Rewritten
from grite.event import ID_BYTES
from grite.remote import RefUpdate
from grite.wal import WAL_REF

UNION: Final = blake2b(b"brat:union", digest_size=ID_BYTES).digest()
"""Who writes what only the other log held: no bot, so that no bot's event counts."""


def believed(clone: Clone, known: str, found: str | None) -> tuple[str, list[str]]:
    """Return the head to read the log up to, and what people should hear of.

    That is `found` where it descends from `known`, else what was pushed in its place.

    Args:
        clone: holds both chains.
        known: the newest commit that was ever believed.
        found: where the log stands now; None: it is gone.

    Raises:
        Rewritten: the remote forbids it, or what is lost there is not here either.
        Conflict: somebody else moved it meanwhile.
        Unavailable: the remote did not answer.
    """
    if found is not None and _descends(clone, found, known):
        return found, []
    try:
        head = known if found is None else _union(clone, known, found)
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
    """Return a commit after `known` that holds what only `found` has, too.

    The same again gives the same commit.
    """
    at_ms = objects.commit_in(clone.objects, known).commit_time * 1000
    try:
        return sync.union(clone.log, found, known, actor=UNION, at_ms=at_ms)
    except Missing:
        clone.bring_log_again()
        return sync.union(clone.log, found, known, actor=UNION, at_ms=at_ms)
