"""Commits that somebody else put on top of the log: listed, or taken off again."""

from bot.repository.clone import Clone
from grite.remote import RefUpdate
from grite.wal import MOST_FOREIGN, WAL_REF, TrustedHead


def kept_short(
    clone: Clone, tip: str, found: TrustedHead
) -> tuple[str, tuple[str, ...]]:
    """Return the tip to append to, and the foreign commits up to it.

    More of them than one commit may list are taken off the log again.

    Raises:
        Conflict: somebody moved the log meanwhile.
        Rejected: the remote does not let the log's ref go back.
        Unavailable: the remote did not answer.
    """
    if found.head is None or len(found.foreign) <= MOST_FOREIGN:
        return tip, found.foreign
    clone.confirm()
    clone.remote.push((RefUpdate(WAL_REF, found.head, tip),))
    return found.head, ()
