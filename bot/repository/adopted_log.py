"""Takes over a log that no allowed key signed, or not to its end, at a named head.

A person has looked at the log and names the newest commit that counts. A signed commit
vouches for it, and lists what lies above it as foreign.
"""

from hashlib import blake2b
from typing import Final

from bot.repository.clone import Clone
from convoy.model import ids
from convoy.text import counted
from grite import objects
from grite.errors import BratError
from grite.event import ID_BYTES, CommentAdded, Event
from grite.remote import RefUpdate
from grite.wal import MOST_FOREIGN, WAL_REF

ADOPTER: Final = blake2b(b"brat:adopt", digest_size=ID_BYTES).digest()
"""The actor of the commit that takes a log over; it is no bot."""


def adopted(clone: Clone, tip: str) -> str:
    """Return the log's newest commit, after it was taken over as `clone.adopt` says.

    Safe to call again: what counts already is not taken over once more.

    Args:
        clone: holds the whole log, and names the commit at which to take it over.
        tip: the log's newest commit.

    Raises:
        BratError: too many commits lie above the named one.
        Conflict: somebody moved the log meanwhile.
        Unavailable: the remote did not answer.
    """
    if not clone.adopt:
        return tip
    found = clone.log.trusted_head(tip, clone.authority)
    if clone.adopt not in found.foreign:
        return tip
    above = found.foreign[: found.foreign.index(clone.adopt)]
    if len(above) > MOST_FOREIGN:
        raise BratError(
            f"{counted(len(above), 'commit')} lie above {clone.adopt}, and one commit "
            f"can list {MOST_FOREIGN}: put {WAL_REF} back to a later commit first"
        )
    at_ms = objects.commit_in(clone.objects, tip).commit_time * 1000
    said = f"The log was taken over at {clone.adopt}."
    event = Event(ids.repository_issue(), ADOPTER, at_ms, CommentAdded(said))
    new = clone.log.write(
        [event], parent=tip, actor=ADOPTER, at_ms=at_ms, foreign=above
    )
    clone.confirm()
    clone.remote.push((RefUpdate(WAL_REF, new, tip),))
    return new
