"""Carries out the requests of ticked boxes, and answers once.

The answer's key is made from the delivery that reported the tick.
"""

from bot.context.bot_context import BotContext
from bot.door.inbox import Ticked
from bot.repository.draft import Draft
from bot.requests import boxes, obeyed_labels
from bot.requests.answer_place import Asked, give
from bot.requests.heard_enough import has_heard_enough
from bot.verbs.carry_out import carry_out
from bot.verbs.request_context import Asker, convoy_of
from convoy.model import ids


async def answer(
    context: BotContext, draft: Draft, delivery: str, ticked: Ticked
) -> None:
    """Carry out the boxes' requests and announce the answer. Safe to call twice."""
    key = ids.sign_key("tick", delivery)
    if key in draft.state.intents or key in draft.state.heard:
        return
    convoy = convoy_of(draft.state, ticked.issue)
    if convoy is None or convoy.comment != ticked.comment:
        return
    if await obeyed_labels.is_off_limits(context, ticked.issue):
        return
    if await has_heard_enough(
        context, draft, by=ticked.by, issue=ticked.issue, sign=key
    ):
        return
    context.memory.unticked.setdefault(ticked.comment, set()).update(ticked.boxes)
    asker = Asker(by=ticked.by, number=ticked.issue, nonce=key)
    wanted = filter(None, map(boxes.request_of, ticked.boxes))
    given = [await carry_out(context, draft, asker, request) for request in wanted]
    if given:
        asked = Asked(by=ticked.by, issue=ticked.issue, sign=key)
        give(context, draft, asked, given)
