"""Finds out which comments that show a convoy people have deleted."""

from bot.context.bot_context import BotContext
from bot.messages.convoy_labels import NO
from bot.repository.draft import Draft
from convoy.events.comment_deletion import NoteDeletedComment
from convoy.model.state import Convoy


async def observe(context: BotContext, draft: Draft, convoy: Convoy) -> None:
    """Note it if a live convoy's comment is gone. Safe to call again.

    A look costs one read, and needs no lease.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show the comment.
    """
    number = convoy.comment
    if number is None or convoy.held == NO:
        return
    if await context.github.comment(number) is None:
        draft.submit(NoteDeletedComment(convoy=convoy.name, comment=number))
