"""The text of a convoy's one comment, as it has to read now."""

from bot.context.bot_context import BotContext
from bot.requests.boxes import convoy_comment
from convoy.model.state import Convoy, shown_asides
from convoy.rules.starting import valid_leases


def comment_body(
    context: BotContext,
    convoy: Convoy,
    ticked: frozenset[str] = frozenset(),
    works: frozenset[str] = frozenset(),
) -> str:
    """Return the comment, as Markdown.

    Args:
        context: the bot's.
        convoy: the convoy.
        ticked: keys of boxes that a person ticked and the bot has not handled yet.
        works: what was set aside and works again.
    """
    state = context.mirror.state
    asides = shown_asides(state, convoy.name, works)
    leases = valid_leases(state, context.clock())
    return convoy_comment(convoy, ticked, asides, leases, context.settings.web)
