"""Finds out which comments that show a convoy people have deleted."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.text.convoy_comment import NO_LABEL
from convoy.events.hold_events import NoteDeletedComment
from convoy.model.state import Convoy


async def observe(context: BotContext, draft: Draft, convoy: Convoy) -> None:
    """Note it if a live convoy's comment is gone. Safe to call again.

    A look costs one read, and needs no lease. Where the whole issue is gone or moved,
    or the bot may not read it, nobody has deleted the comment.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show the comment, or does not show the issue either.
    """
    number = convoy.comment
    if number is None or convoy.held == NO_LABEL:
        return
    if await context.github.comment(number) is not None:
        return
    issue = await context.github.issue(convoy.issue)
    if issue.number == convoy.issue:
        draft.submit(NoteDeletedComment(convoy=convoy.name, comment=number))
