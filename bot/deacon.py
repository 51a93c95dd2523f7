"""The deacon: sweeps up what nobody needs any more."""

from bot.draft import Draft
from convoy.actions import Sweep


def sweep(draft: Draft, action: Sweep) -> None:
    """Delete branches of candidates that are open no more; never a branch with work."""
    for ref, commit in action.refs:
        if draft.refs.get(ref) == commit:
            draft.move(ref, None)
