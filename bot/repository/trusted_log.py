"""The log in the bot's clone as far as it counts: read, put back, and taken over.

A log that was rewound, replaced or deleted on the remote is put back. The known chain
stays as it is; events only in the other chain are appended for people to see: they were
decided on another state and change nothing here. Whoever may push can put every ref
back, but not what the forge keeps elsewhere: each task run names, in its title, the
signed commit that handed the task off. One that the log does not pass through any more
proves that the log was put back.

What no allowed key signed counts for nothing, and is listed as foreign or taken off
again, unless a person has looked at the log and names the newest commit that counts: a
signed commit vouches for it then, and lists what lies above it.
"""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Final

from bot.repository.clone import Clone
from convoy.log.record import Reading, follow
from convoy.model import ids
from convoy.text import counted
from grite import objects
from grite.errors import BratError, Corrupt, GitFailed, Missing, Rewritten, Unsigned
from grite.event import ID_BYTES, CommentAdded, Event
from grite.remote import RefUpdate
from grite.signatures import ENTRY
from grite.wal import MOST_FOREIGN, WAL_REF, Chain, TrustedHead, chain_since, log_union


def trusted_end(clone: Clone, tip: str) -> TrustedHead:
    """Return how far the log counts; its head is never None.

    Raises:
        Unsigned: none of it counts.
    """
    found = clone.log.trusted_head(tip, clone.authority)
    if found.head is None:
        try:
            objects.commit_in(clone.objects, tip)
        except Corrupt as error:
            raise Corrupt(
                f"{WAL_REF} does not contain a log ({error}); if brat never ran "
                f"here, remove the ref with: git push REMOTE :{WAL_REF}"
            ) from error
        clone.bring_log_again()  # a shallow clone may lack the one that counts
        found = clone.log.trusted_head(tip, clone.authority)
    if found.head is None:
        raise Unsigned(tip, found.fault)
    return found


def read_log(
    clone: Clone, head: str, known: Reading, refs: Mapping[str, str]
) -> tuple[Reading, list[str]]:
    """Return what the log says at `head`, which counts, and notices for people."""
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
        notices.append(f"{ref} cannot be used, so brat reads the log instead: {fault}")
    try:
        return follow(clone.log, head), notices
    except Missing:
        clone.bring_log_again()
        return follow(clone.log, head), notices


MOST_FETCHED: Final = 20
"""How many unknown commits are fetched: titles can be made up."""


def lost_commit(clone: Clone, tip: str | None) -> str | None:
    """Return the newest commit that counts and that the log lost, if one is known."""
    log = (
        Chain([], set(), None) if tip is None else chain_since(clone.objects, tip, None)
    )
    here = log.commits[:-1] if log.missing else log.commits
    # The history of a shallow clone ends: what is older is not lost.
    oldest = _date(clone, here[-1]) if log.missing and here else -1
    lost = [commit for commit in clone.witnesses if commit not in set(here)]
    found = []
    for commit in lost[:MOST_FETCHED]:
        with suppress(Corrupt, GitFailed):  # made up, or the forge has forgotten it
            clone.remote.fetch([commit])
            data = objects.commit_bytes(clone.objects, commit)
            is_ours = not clone.authority.fault(data, ENTRY)
            if is_ours and _date(clone, commit) > oldest:
                found.append(commit)
    return max(found, key=lambda commit: _date(clone, commit), default=None)


def _date(clone: Clone, commit: str) -> int:
    try:
        return objects.commit_in(clone.objects, commit).commit_time
    except Corrupt:
        return 0


UNION: Final = blake2b(b"brat:union", digest_size=ID_BYTES).digest()
"""The actor of the appended chunks: it is no bot, so none of their events counts."""


def believed_tip(clone: Clone, known: str, found: str | None) -> tuple[str, list[str]]:
    """Return the head up to which to read the log, and notices for people.

    It is `found` if that descends from `known`, the newest commit that was ever
    believed, else the commit pushed instead.

    Raises:
        Rewritten: the remote forbids the push, or the clone lacks a lost commit too.
    """
    if found is not None:
        with suppress(Rewritten):
            if clone.log.missing(found, since=known) is not None:
                clone.bring_log_again()
                clone.log.missing(found, since=known)
            return found, []
    try:
        head = known if found is None else _union(clone, known, found)
        clone.confirm()  # else another repository that took the name would get the log
        clone.remote.push((RefUpdate(WAL_REF, head, found),))
    except (Missing, GitFailed) as error:
        said = (
            f"it cannot be restored: {error}. If you intended the change, stop the bot "
            f"and delete {clone.path}"
        )
        raise Rewritten(known, found, said) from error
    was = f"was at {found}, not at a descendant of {known}" if found else "was missing"
    said = (
        f"{WAL_REF} {was}. brat restored it to {head}. If you intended the change, "
        f"stop the bot, delete {clone.path}, and make the change again"
    )
    return head, [said]


def _union(clone: Clone, known: str, found: str) -> str:
    """Return a commit after `known` with what only `found` holds; deterministic."""
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


ADOPTER: Final = blake2b(b"brat:adopt", digest_size=ID_BYTES).digest()
"""The actor of the commit that takes a log over; it is no bot."""


def adopted_tip(clone: Clone, tip: str) -> str:
    """Return the log's newest commit, after it was taken over as `clone.adopt` says.

    Safe to call again: what counts already is not taken over once more.

    Raises:
        BratError: too many commits lie above the named one.
    """
    if not clone.adopt:
        return tip
    found = clone.log.trusted_head(tip, clone.authority)
    if clone.adopt not in found.foreign:
        return tip
    above = found.foreign[: found.foreign.index(clone.adopt)]
    if len(above) > MOST_FOREIGN:
        raise BratError(
            f"{counted(len(above), 'commit')} come after {clone.adopt}; the limit is "
            f"{MOST_FOREIGN}: name a later commit, or reset {WAL_REF} to an earlier one"
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


def without_excess(
    clone: Clone, tip: str, found: TrustedHead
) -> tuple[str, tuple[str, ...]]:
    """Return the tip without more foreign commits than one may list, and those left."""
    if found.head is None or len(found.foreign) <= MOST_FOREIGN:
        return tip, found.foreign
    clone.confirm()
    clone.remote.push((RefUpdate(WAL_REF, found.head, tip),))
    return found.head, ()
