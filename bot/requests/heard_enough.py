"""Answers a person who asks for more than is answered: once, and then no more."""

from bot.context.answer_allowance import allowance
from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.text import replies
from convoy.events.forge_actions import Answer, IgnoreRequest
from convoy.model import ids


async def has_heard_enough(
    context: BotContext,
    draft: Draft,
    *,
    by: str,
    issue: int,
    comment: int = 0,
    sign: str = "",
) -> bool:
    """Whether a request is not carried out; then the draft says what becomes of it.

    Safe to call twice.

    Args:
        context: the bot's.
        draft: takes the resulting events.
        by: who asks.
        issue: the issue or pull request where it was said.
        comment: the comment with the request; 0: it is `sign`.
        sign: the review or tick: see `ids.sign_key`.

    Raises:
        Unavailable: the forge did not answer.
    """
    given = await allowance(context, by, sign or ids.answer_key(comment))
    if given == "answered":
        return False
    if given == "ignored":
        draft.submit(IgnoreRequest(by=by, comment=comment, sign=sign))
        return True
    again_at = context.memory.answers.again_at(by, context.clock())
    draft.submit(
        Answer(
            issue=issue,
            comment=comment,
            sign=sign,
            reaction="confused" if comment else "",
            text=replies.enough(by, again_at),
            by=by,
            enough=True,
        )
    )
    return True
