"""Warns before a convoy starts when the key of an engine's model is missing."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.text import notices
from convoy.events.forge_actions import Answer
from convoy.events.plan_events import RequestConvoy
from convoy.model import ids


async def warn(context: BotContext, draft: Draft, convoy: RequestConvoy) -> None:
    """Announce an answer that names the missing secrets.

    Silent when none is missing or the bot may not list them. Safe to call twice.
    """
    names = await context.secret_names()
    if names is None:
        return
    wanted = {name: engine.keys for name, engine in convoy.settings.engines.items()}
    lacking = {
        name: keys for name, keys in wanted.items() if keys and names.isdisjoint(keys)
    }
    if lacking:
        sign = ids.sign_key("keys", convoy.convoy)
        text = notices.keyless(lacking)
        draft.submit(Answer(issue=convoy.issue, sign=sign, text=text))
