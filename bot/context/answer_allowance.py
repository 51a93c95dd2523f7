"""Decides whether what somebody says is answered, by how much was answered lately."""

from typing import Literal

from bot.context.bot_context import BotContext

Allowance = Literal["answered", "told", "ignored"]
"""`told`: the answer is that it is enough for now; after that there is none."""


async def allowance(context: BotContext, by: str, key: str) -> Allowance:
    """Return what becomes of something said. Safe to call twice for the same key.

    Whether a person may write is asked only of those who say much.

    Args:
        context: the bot's.
        by: the person.
        key: of what was said.

    Raises:
        Unavailable: the forge did not answer.
    """
    budget, now = context.memory.answers, context.clock()
    budget.recall(by, context.mirror.state.answers.get(by.casefold()))
    spent, settings = budget.spent(by, key, now), context.settings
    most = settings.answers_hour
    if most <= spent < settings.writer_answers_hour:
        may_write = await context.github.may_write(by)
        most = settings.writer_answers_hour if may_write else most
    if spent < most:
        budget.spend(by, key, now)
        return "answered"
    return "told" if budget.may_tell(by, key, now) else "ignored"
