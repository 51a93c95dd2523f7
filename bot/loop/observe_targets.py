"""Looks at where convoys land: the rules of their targets, their own pull requests."""

from functools import partial
from typing import Final

from bot.context.alone import tried
from bot.context.bot_context import BotContext
from convoy.model.ids import look_item
from convoy.model.state import Convoy
from convoy.model.work import TargetRules
from convoy.rules.verdict import Mergeable

RULES_MS: Final = 600_000
"""How long the rules of a target are believed while a convoy is under way."""


async def target_rules(context: BotContext) -> dict[str, TargetRules]:
    """Return the rules of every live convoy's target, and of the default branch."""
    found, at = dict(context.observed.rules), context.memory.rules_read
    live = {convoy.target for convoy in context.mirror.state.live()}
    now = context.clock()
    for branch in live | {context.mirror.default_branch}:
        is_old = branch in live and now - at.get(branch, now) >= RULES_MS
        if branch in found and not is_old:
            continue
        look = partial(context.github.branch_rules.of, branch)
        rules = await tried(context, look_item("rules", branch), look)
        if rules is not None:
            found[branch], at[branch] = rules, now
    return found


async def own_pulls(context: BotContext) -> dict[int, Mergeable]:
    """Return what the forge says of the pull requests that it is to merge."""
    found = {}
    for convoy in context.mirror.state.live():
        number = convoy.pull
        if number is not None and _at_last_step(convoy):
            look = partial(context.github.merging.seen, number)
            item = look_item(convoy.name, "landing")
            if seen := await tried(context, item, look):
                found[number] = seen
    return found


def _at_last_step(convoy: Convoy) -> bool:
    is_pushed = convoy.landing is None or convoy.landing.way == "push"
    return bool(convoy.settled or convoy.parts.branch) and not is_pushed
