"""The deacon cleans up: branches that nobody needs, and CI on what was given up."""

from functools import partial
from typing import Final

from bot.repository.draft import Draft
from bot.roles.bot_context import BotContext, tried
from convoy.model import ids
from convoy.owed import Sweep
from convoy.rules.leftovers import queue_branches


def sweep_branches(draft: Draft, action: Sweep) -> None:
    """Delete branches, but none of a candidate that is open in this very draft."""
    kept = queue_branches(draft.state)
    for ref, commit in action.refs:
        if draft.refs.get(ref) == commit and ref not in kept:
            draft.move(ref, None)


SHOWN_MS: Final = 30_000
"""How long after a push the forge may show its first run."""


async def look_at_unneeded(
    context: BotContext, awaited: frozenset[str]
) -> tuple[int, ...]:
    """Return the runs to cancel: of what was given up lately, not awaited."""
    given_up, now = context.memory.given_up, context.clock()
    for commit, known in context.observed.checks.items():
        if known.verdict != "green" and commit not in awaited:
            late = SHOWN_MS if known.verdict == "none" else 0
            given_up.setdefault(commit, now + late)
    found: list[int] = []
    for commit, last in [*given_up.items()]:
        if commit in awaited:
            del given_up[commit]
            continue
        ask = partial(context.github.ci.on_queues, commit)
        runs = await tried(context, ids.item("check", commit), ask)
        found += runs or ()
        if runs == () and now >= last:
            del given_up[commit]
    return tuple(found)
