"""What a fresh clone knows of the log beside the log's own ref, so a rollback shows.

Whoever may push can put every ref back, but not what the forge keeps elsewhere: each
task run names, in its title, the signed commit that handed the task off. One that the
log does not pass through any more proves that the log was put back.
"""

from typing import Final

from bot.repository.clone import Clone
from grite import objects
from grite.errors import Corrupt, GitFailed
from grite.signatures import ENTRY
from grite.wal import Chain, chain_since

MOST: Final = 20
"""How many unknown commits are fetched: titles can be made up."""


def witnessed(clone: Clone, tip: str | None) -> str | None:
    """Return the newest commit that counts and that the log lost; None: none is known.

    Args:
        clone: has fetched the log, and holds the commits to look for.
        tip: the log's newest commit; None: the log is gone.

    Raises:
        Unavailable: the remote did not answer.
    """
    log = (
        Chain([], set(), None) if tip is None else chain_since(clone.objects, tip, None)
    )
    here = log.commits[:-1] if log.missing else log.commits
    # The history of a shallow clone ends: what is older is not lost.
    oldest = _date(clone, here[-1]) if log.missing and here else -1
    lost = [commit for commit in clone.witnesses if commit not in set(here)]
    found = [commit for commit in lost[:MOST] if _counts(clone, commit, oldest)]
    return max(found, key=lambda commit: _date(clone, commit), default=None)


def _counts(clone: Clone, commit: str, oldest: int) -> bool:
    try:
        clone.remote.fetch([commit])
        data = objects.commit_bytes(clone.objects, commit)
        return not clone.authority.fault(data, ENTRY) and _date(clone, commit) > oldest
    except (Corrupt, GitFailed):
        return False  # it was made up, or the forge has forgotten it


def _date(clone: Clone, commit: str) -> int:
    try:
        return objects.commit_in(clone.objects, commit).commit_time
    except Corrupt:
        return 0
