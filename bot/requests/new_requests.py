"""Puts to the rules the requests by people and schedules since the last look."""

from bot.context.bot_context import BotContext
from bot.door.delivery_inbox import Remark, Review
from bot.door.wake import ALL
from bot.repository.draft import Draft
from bot.requests import (
    comments,
    deleted_comments,
    missed_comments,
    missed_issues,
    obeyed_labels,
    submitted_reviews,
    ticked_boxes,
)
from bot.roles import mayor, scheduled_convoys


async def listen(context: BotContext, draft: Draft, parts: frozenset[str]) -> list[str]:
    """Put all new requests to the rules; return the ids of the handled deliveries.

    Safe to cut off anywhere and to call again: decisions are in the draft, and in the
    log once the draft is pushed.

    Args:
        context: the bot's.
        draft: takes the resulting events.
        parts: what may have changed; all parts: also look for lost deliveries.

    Raises:
        Unavailable: the forge did not answer.
    """
    sweep = parts >= ALL
    if sweep:
        await missed_issues.issues(context, draft.state)
    waiting = await mayor.requests(context, sweep=sweep)
    for request in waiting.values():
        await mayor.accept(context, draft, request)
    if sweep:
        await scheduled_convoys.listen(context, draft)
        await missed_comments.comments(context, draft.state)
        await submitted_reviews.keep_missed(context, draft.state)
    remarks = context.inbox.remarks()
    for remark in remarks.values():
        await _hear(context, draft, remark)
    asked = context.inbox.signs()
    for delivery, sign in asked.items():
        if isinstance(sign, Review):
            await submitted_reviews.answer(context, draft, sign)
        else:
            await ticked_boxes.answer(context, draft, delivery, sign)
    await _look_at_shown(context, draft, parts)
    return [*waiting, *remarks, *asked]


async def _look_at_shown(
    context: BotContext, draft: Draft, parts: frozenset[str]
) -> None:
    """Note which labels and comments of the convoys people have changed."""
    begun = draft.state.convoys.keys() != context.mirror.state.convoys.keys()
    if begun or "issues" in parts:
        await obeyed_labels.observe(context, draft)
    if parts >= ALL:
        await obeyed_labels.correct(context, draft.state)
    if "shown" in parts:
        await deleted_comments.observe(context, draft)


async def _hear(context: BotContext, draft: Draft, remark: Remark) -> None:
    if remark.edited:
        missed_comments.ask_again(draft, remark)
    else:
        await comments.answer(context, draft, remark)
