"""Asks the forge whether a text with commands was sent by mail.

Whoever forges a mail's sender speaks in that person's name, so such a text commands
nothing. Only texts with commands are asked about: each takes a request.
"""

from http import HTTPStatus

from bot.context.bot_context import BotContext
from bot.door.inbox import Remark, Review
from bot.forge.rest import Refused


async def is_mailed(context: BotContext, said: Remark | Review) -> bool:
    """Whether a comment or a review was sent by mail.

    Raises:
        Unavailable: the forge did not answer; its commands wait.
        Refused: the forge does not say; with status 410, the text is gone.
    """
    node = said.node or await _node(context, said)
    return await context.github.remarks.is_mailed(node)


async def _node(context: BotContext, said: Remark | Review) -> str:
    """Return the global id of a text that was kept without it."""
    if isinstance(said, Review):
        reviews = await context.github.pulls.reviews(said.pull)
        found = (one.node_id for one in reviews if one.id == said.review)
        node = next(found, "")
    else:
        comment = await context.github.remarks.one(said.comment)
        node = comment.node_id if comment is not None else ""
    if not node:
        raise Refused("the text of a command", HTTPStatus.GONE, "it is gone")
    return node
