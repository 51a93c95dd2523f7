"""Looks for runs of CI that go on though their candidates are no longer open."""

from functools import partial
from typing import Final

from bot.context.alone import tried
from bot.context.bot_context import BotContext
from convoy.model.ids import check_item

SHOWN_MS: Final = 30_000
"""How long after a push the forge may show its first run."""


async def look(context: BotContext, awaited: frozenset[str]) -> tuple[int, ...]:
    """Return the runs to cancel; each look asks only for what was given up lately.

    Args:
        context: the bot's.
        awaited: the commits whose verdict still counts.
    """
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
        runs = await tried(context, check_item(commit), ask)
        found += runs or ()
        if runs == () and now >= last:
            del given_up[commit]
    return tuple(found)
