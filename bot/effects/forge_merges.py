"""Asks the forge to merge a convoy's pull request, at once or through its queue."""

from bot.context.bot_context import BotContext
from bot.text import merge_texts
from convoy.model.state import Convoy
from convoy.model.work import Intent, Landing


async def ask_to_merge(context: BotContext, convoy: Convoy, intent: Intent) -> int:
    """Return the pull request's number, once the forge has been asked; 0: too late.

    Only the candidate that was announced is merged. Safe to repeat: a pull request that
    is merged or queued already is left alone.

    Raises:
        Refused: the forge does not merge it, with its reason.
    """
    candidate, number = convoy.candidate, convoy.pull
    if convoy.ended or number is None or candidate is None:
        return 0
    if candidate.commit != intent.text:
        return 0  # another candidate has taken its place
    merging = context.github.merging
    seen = await merging.seen(number)
    if seen.merged or seen.queued:
        return number
    landing = convoy.landing or Landing()
    if landing.way == "queue":
        await merging.enqueue(number, candidate.commit)
    else:
        title, text = merge_texts.landing_message(convoy, landing.method)
        await merging.merge(number, candidate.commit, landing.method, title, text)
    return number
