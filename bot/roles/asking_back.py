"""Asks the author of an issue that says too little, once for each text of it."""

from hashlib import sha256

from bot.context.bot_context import BotContext
from bot.door.inbox import StartRequest
from bot.roles.admission import Words
from bot.roles.refused_request import tell
from bot.text import replies
from convoy.model import ids
from convoy.planner.issue_text import questions


async def asked_back(
    context: BotContext, request: StartRequest, words: Words, *, ask: bool
) -> str | None:
    """Return why a request waits for answers, which it asks for; None: it need not.

    The key names the text that was asked about: whoever answers in the issue changes
    it, and is not asked a second time. Safe to call twice.

    Args:
        context: the bot's.
        request: what comes of the issue.
        words: the admissible ones of it.
        ask: whether the configuration wants it.
    """
    wanted = questions(words.title, words.text) if ask else ()
    if not wanted or request.added or request.trigger == "schedule":
        return None
    asked = f"asked:{request.issue}"
    text = sha256(f"{words.title}\n{words.text}".encode()).hexdigest()[:12]
    key = f"{asked}:{text}"
    if await context.github.said(request.issue, asked, context.login):
        same = await context.github.said(request.issue, key, context.login)
        return replies.ASKED_ABOVE if same else None
    told = replies.questions_text(request.by, wanted)
    await tell(context, request, asked, f"{told}\n{ids.marker(key)}")
    return replies.ASKED_ABOVE
