"""What of an issue is let into the log, and so into a prompt: whose words, and which.

Done once, when a convoy is accepted: from then on the text in the log is the only one.
"""

import asyncio
from datetime import datetime
from typing import Final, NamedTuple

from bot.desk import Desk
from bot.door.inbox import Request
from bot.forge.payloads import Issue
from bot.forge.rest import Refused
from bot.speech.cleaning import clean
from convoy.text import plaintext
from convoy.text.redaction import redacted
from grite.errors import Unavailable

TITLE_CHARS: Final = 256
TEXT_CHARS: Final = 60_000
OUTSIDER: Final = (
    "The issue was written by somebody without write access, and in a public "
    "repository an agent is given no such text. Open an issue in your own words, or "
    "comment `/brat start -- what is to be done`; `outsiders = true` under `[trust]` "
    "in `.brat/config.toml` lets everybody's text in."
)
EDITED: Final = (
    "The issue was edited after it was labelled, or may have been: read it again, and "
    "set the label again."
)
EDITED_SINCE_SAID: Final = (
    "the issue was edited after the comment was written, or may have been: read it "
    "again, and say it again"
)


class Words(NamedTuple):
    """Text that is fit to be kept and shown to a model."""

    title: str
    text: str


async def admitted(
    desk: Desk, request: Request, author: str, *, outsiders: bool
) -> Words | str:
    """Return what of a request may go on, cleaned, or why nothing of it may.

    Args:
        desk: of the bot.
        request: by somebody who may write, which was asked of the forge.
        author: who wrote the issue; empty: nobody knows.
        outsiders: whether text of people without write access may go on in public.
    """
    title, text = request.title, request.text
    if not outsiders and not await _is_trusted(desk, request, author):
        if not request.added:
            return OUTSIDER
        title, text = f"Issue #{request.issue}", ""
    whole = "\n\n".join(filter(None, (request.added, text)))
    return await asyncio.to_thread(fit, title, whole)  # hostile text takes seconds


async def _is_trusted(desk: Desk, request: Request, author: str) -> bool:
    """Whether the issue's text is that of people who may write, or nobody else's."""
    if author == request.by or not await desk.github.is_public():
        return True
    return bool(author) and await desk.github.may_write(author)


def fit(title: str, text: str) -> Words:
    """Return title and text, not too long, without secrets and what nobody sees.

    Pure; safe to do twice. A text that was built to be slow takes some seconds.
    """
    line = " ".join(redacted(plaintext.clean(title)).split())
    whole = redacted(clean(text, limit=TEXT_CHARS))
    return Words(plaintext.cut(line, TITLE_CHARS), whole)


async def edited_since(desk: Desk, issue: Issue, moment: datetime | None) -> bool:
    """Whether an issue may say something else than when it was asked for.

    A forge that does not say when a text was edited says when anything last happened.
    """
    if moment is None:
        return True
    try:
        edited = await desk.github.text_edited_at(issue.number)
    except (Refused, Unavailable):
        return issue.updated_at is None or issue.updated_at > moment
    return edited is not None and edited >= moment
