"""The deacon: cleans up branches and leases that nobody needs any more."""

from bot.repository.draft import Draft
from convoy.events.leases import ExpireLease
from convoy.owed import Expire, Sweep
from convoy.rules.landing import queue_branches


def sweep(draft: Draft, action: Sweep) -> None:
    """Delete branches of candidates that are no longer open; never a branch with work.

    A branch stays if this very draft opened its candidate again.
    """
    kept = queue_branches(draft.state)
    for ref, commit in action.refs:
        if draft.refs.get(ref) == commit and ref not in kept:
            draft.move(ref, None)


def expire(draft: Draft, action: Expire) -> None:
    """Free a lease that has run out."""
    draft.submit(
        ExpireLease(resource=action.resource, nonce=action.nonce, now=draft.now)
    )
