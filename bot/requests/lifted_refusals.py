"""Tries again at once what was refused, when somebody changed what the bot may do."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from convoy.events.forge_actions import TakeItemUp
from convoy.model.state import asides


def take_up(context: BotContext, draft: Draft) -> None:
    """Take up every item that waits for a rule or a right of the forge.

    What was refused in this tick is left alone: it will hardly be allowed in the next.
    """
    refused = context.memory.failures.owed
    for item, aside in [*asides(draft.state)]:
        if aside.rule and item not in refused:
            draft.submit(TakeItemUp(item=item))
