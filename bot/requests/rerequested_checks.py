"""Carries out "Re-run" on a check of the bot's: the same as `/brat retry` there.

The answer's key is made from the delivery that reported it.
"""

from bot.context.bot_context import BotContext
from bot.door.delivery_inbox import Rerun
from bot.messages import replies
from bot.repository.draft import Draft
from bot.requests import obeyed_labels
from bot.requests.heard_enough import has_heard_enough
from bot.verbs.carry_out import carry_out
from bot.verbs.request_context import Asker
from bot.verbs.verb import Request
from convoy.events.forge_actions import Answer
from convoy.model import ids


async def answer(
    context: BotContext, draft: Draft, delivery: str, rerun: Rerun
) -> None:
    """Try again what is blocked, and announce the answer. Safe to call twice."""
    key = ids.sign_key("rerun", delivery)
    convoy = draft.state.convoys.get(rerun.convoy)
    if convoy is None or key in draft.state.intents or key in draft.state.heard:
        return
    task = convoy.task(rerun.task)
    number = (task.pull if task else convoy.pull) or convoy.issue
    if await obeyed_labels.is_off_limits(context, number):
        return
    if await has_heard_enough(context, draft, by=rerun.by, issue=number, sign=key):
        return
    asker = Asker(by=rerun.by, number=number, convoy=convoy.name, nonce=key)
    wanted = Request("retry", {"task": task.number} if task else {})
    given = await carry_out(context, draft, asker, wanted)
    text = replies.text(rerun.by, [given])
    draft.submit(Answer(issue=number, sign=key, text=text, by=rerun.by))
