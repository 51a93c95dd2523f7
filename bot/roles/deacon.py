"""The deacon: sweeps up what nobody needs any more."""

from bot.repository.draft import Draft
from convoy.actions import Expire, Sweep
from convoy.commands import ExpireLease


def sweep(draft: Draft, action: Sweep) -> None:
    """Delete branches of candidates that are open no more; never a branch with work."""
    for ref, commit in action.refs:
        if draft.refs.get(ref) == commit:
            draft.move(ref, None)


def expire(draft: Draft, action: Expire) -> None:
    """Free a lease that has run out."""
    draft.submit(
        ExpireLease(resource=action.resource, nonce=action.nonce, now=draft.now)
    )
