"""Carries out "Re-run" and the buttons on a check of the bot's, as commands there.

"Re-run" is `/brat retry`.

The answer's key is made from the delivery that reported it.
"""

from bot.context.bot_context import BotContext
from bot.door.inbox import CheckAction
from bot.repository.draft import Draft
from bot.requests import obeyed_labels
from bot.requests.answer_place import Asked, give
from bot.requests.check_buttons import request_of
from bot.requests.heard_enough import has_heard_enough
from bot.verbs.carry_out import carry_out
from bot.verbs.request_context import Asker
from convoy.model import ids


async def answer(
    context: BotContext, draft: Draft, delivery: str, action: CheckAction
) -> None:
    """Carry out what was pressed, and announce the answer. Safe to call twice."""
    key = ids.sign_key("rerun", delivery)
    convoy = draft.state.convoys.get(action.convoy)
    if convoy is None or key in draft.state.intents or key in draft.state.heard:
        return
    task = convoy.task(action.task)
    wanted = request_of(action.verb, task, action.commit)
    if wanted is None:
        return
    number = (task.pull if task else convoy.pull) or convoy.issue
    if await obeyed_labels.is_off_limits(context, number):
        return
    if await has_heard_enough(context, draft, by=action.by, issue=number, sign=key):
        return
    asker = Asker(by=action.by, number=number, convoy=convoy.name, nonce=key)
    given = [await carry_out(context, draft, asker, wanted)]
    give(context, draft, Asked(by=action.by, issue=number, sign=key), given)
