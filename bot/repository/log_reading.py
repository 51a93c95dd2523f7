"""Reads the log in the bot's clone, up to the newest commit that counts."""

from collections.abc import Mapping
from contextlib import suppress

from bot.repository.clone import Clone
from convoy.log.record import Reading, follow
from grite import objects
from grite.errors import Corrupt, Missing, Rewritten, Unsigned
from grite.wal import WAL_REF, TrustedHead


def trusted(clone: Clone, tip: str) -> TrustedHead:
    """Return how far the log counts; its head is never None.

    Args:
        clone: holds the log.
        tip: the log's newest commit.

    Raises:
        Unsigned: none of it counts.
        Corrupt: the log's ref does not point to a commit.
    """
    found = clone.log.trusted_head(tip, clone.authority)
    if found.head is None:
        _require_commit(clone, tip)
        clone.bring_log_again()  # a shallow clone may lack the one that counts
        found = clone.log.trusted_head(tip, clone.authority)
    if found.head is None:
        raise Unsigned(tip, found.fault)
    return found


def read(
    clone: Clone, head: str, known: Reading, refs: Mapping[str, str]
) -> tuple[Reading, list[str]]:
    """Return what the log says at `head`, and notices for people.

    Args:
        clone: holds the log.
        head: a commit that counts.
        known: what was read before.
        refs: the remote's, with its checkpoints.

    Raises:
        Missing: the remote itself lacks a commit of the log.
    """
    notices: list[str] = []
    if known.head is not None:
        with suppress(Rewritten):  # it was taken over at an older commit
            return follow(clone.log, head, known), notices
    for ref, kept in clone.kept(refs):
        try:
            if isinstance(kept, Reading):
                return follow(clone.log, head, kept), notices
            fault = kept
        except Corrupt as error:
            fault = str(error)
        notices.append(f"{ref} is of no use, the log is read: {fault}")
    try:
        return follow(clone.log, head), notices
    except Missing:
        clone.bring_log_again()
        return follow(clone.log, head), notices


def _require_commit(clone: Clone, tip: str) -> None:
    try:
        objects.commit_in(clone.objects, tip)
    except Corrupt as error:
        raise Corrupt(
            f"{WAL_REF} holds no log ({error}); if there was none, remove it with: "
            f"git push REMOTE :{WAL_REF}"
        ) from error
