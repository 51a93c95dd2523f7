"""Decides which words of an issue may enter the log, and so a prompt.

This happens once, when a convoy is accepted: after that only the log's text counts.
"""

import asyncio
from datetime import datetime
from typing import Final, NamedTuple

from bot.context.bot_context import BotContext
from bot.door.inbox import StartRequest
from bot.forge.payloads import Issue
from bot.forge.rest import Refused
from bot.text.replies import OUTSIDER
from bot.text.visible_text import clean_markdown
from convoy import text as plaintext
from convoy.text import TITLE_CHARS, redacted
from grite.errors import Unavailable

TEXT_CHARS: Final = 60_000


class Words(NamedTuple):
    """Text that is fit to be kept and shown to a model."""

    title: str
    text: str


async def admitted(
    context: BotContext, request: StartRequest, author: str, *, outsiders: bool
) -> Words | str:
    """Return the admissible words of a request, cleaned, or why there are none.

    Args:
        context: the bot's.
        request: by somebody with write access; the caller asked the forge.
        author: who wrote the issue; empty if unknown.
        outsiders: whether a public repository admits text by people who may not write.
    """
    title, text = request.title, request.text
    if not outsiders and not await _is_trusted(context, request, author):
        if not request.added:
            return OUTSIDER
        title, text = f"Issue #{request.issue}", ""
    whole = "\n\n".join(filter(None, (request.added, text)))
    return await asyncio.to_thread(fit, title, whole)  # hostile text takes seconds


async def _is_trusted(context: BotContext, request: StartRequest, author: str) -> bool:
    """Whether the requester or a writer wrote the issue, or no public can see it."""
    if author == request.by or not await context.github.is_public():
        return True
    return bool(author) and await context.github.may_write(author)


def fit(title: str, text: str) -> Words:
    """Return title and text, shortened, without secrets and without hidden parts.

    Pure; safe to do twice. A text built to be slow takes some seconds.
    """
    line = " ".join(redacted(plaintext.clean(title)).split())
    whole = redacted(clean_markdown(text, limit=TEXT_CHARS))
    return Words(plaintext.cut(line, TITLE_CHARS), whole)


async def edited_since(
    context: BotContext, issue: Issue, moment: datetime | None
) -> bool:
    """Whether an issue's text may have changed since it was requested.

    If the forge does not tell when the text was edited, any later update counts.
    """
    if moment is None:
        return True
    try:
        edited = await context.github.text_edited_at(issue.number)
    except (Refused, Unavailable):
        return issue.updated_at is None or issue.updated_at > moment
    return edited is not None and edited >= moment
