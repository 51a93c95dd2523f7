"""Carries out every request: checks the person's right, applies the rule, answers."""

from inspect import isawaitable

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.text import replies
from bot.text.replies import Reply
from bot.verbs.endpoints import endpoint_of
from bot.verbs.request_context import Asker, RequestContext
from bot.verbs.verb import NotPossible, Request
from bot.verbs.verb_table import BY_NAME


async def carry_out(
    bot: BotContext, draft: Draft, asker: Asker, request: Request
) -> Reply:
    """Carry out a request and return the reply.

    Args:
        bot: asks the forge for the person's right.
        draft: takes the resulting events; unchanged if the request is refused at once.
        asker: who asks, and where.
        request: the request.

    Raises:
        Unavailable: the forge did not answer.
    """
    verb = BY_NAME[request.verb]
    may = asker.allowed or verb.right == "read"
    if not may and not await bot.github.may(asker.by, verb.right):
        return replies.denied(verb.name, verb.right)
    context = RequestContext(bot=bot, draft=draft, asker=asker)
    words = {} if verb.text == "none" else {"text": request.text}
    try:
        if asker.at_endpoint:
            endpoint_of(request).check(context.convoy, request)
        said = verb.rule(context, **request.arguments, **words)
        text = await said if isawaitable(said) else said
        return replies.done(text, asks=verb.asks, brief=verb.brief)
    except NotPossible as error:
        return replies.refused(str(error))
