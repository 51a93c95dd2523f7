"""Says on an issue why no convoy comes of it."""

from bot.context.answer_allowance import allowance
from bot.context.bot_context import BotContext
from bot.context.retries import Try, failed_try, quiet_try
from bot.door.inbox import StartRequest
from bot.text import replies
from convoy.model import ids
from convoy.text import posted
from grite.errors import Unavailable


async def refuse(context: BotContext, request: StartRequest, why: str) -> None:
    """Say why nothing will happen, once, and take the label off.

    Who opens more issues than are answered gets no word for the rest of the hour.
    """
    if why != replies.ASKED_ABOVE:
        await tell(context, request, f"denied:{request.issue}", why)
    if request.trigger == "label":
        label = context.settings.label
        await context.github.relabel(request.issue, set(), {label})
        context.memory.unread.pop(request.issue, None)


async def tell(context: BotContext, request: StartRequest, key: str, why: str) -> None:
    """Say something about a request on its issue, under a key; safe to call twice."""
    if await allowance(context, request.by, key) != "answered":
        return
    now = quiet_try(context, key)
    said = await context.github.said(request.issue, key, context.login)
    body = posted(f"{ids.marker(key)}\n{why}", replies.MORE_FAULTS)
    if said is None:
        await _say(context, request.issue, now, body)
    elif said.body != body:
        await context.github.edit_comment(said.id, body)


async def _say(context: BotContext, issue: int, now: Try, body: str) -> None:
    """Comment; repeat a try only once the previous comment would be visible."""
    now.repeat()
    await context.hold()
    try:
        await context.github.say(issue, body)
    except Unavailable:
        failed_try(context, now.key)
        raise
