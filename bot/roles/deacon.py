"""The deacon: sweeps up what nobody needs any more."""

from bot.repository.draft import Draft
from convoy.actions import Expire, Sweep
from convoy.commands import ExpireLease
from convoy.queue import queue_branches


def sweep(draft: Draft, action: Sweep) -> None:
    """Delete branches of candidates that are open no more; never a branch with work.

    One that was shut may have been opened again by this very draft.
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
