"""Finds out which comments that show a convoy people have deleted."""

from bot.context.bot_context import BotContext
from bot.messages.convoy_labels import NO
from bot.repository.draft import Draft
from convoy.events.comment_deletion import NoteDeletedComment


async def observe(context: BotContext, draft: Draft) -> None:
    """Note which live convoys' comments are gone. Safe to call again.

    A look costs one read for each live convoy, and needs no lease.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show a comment.
    """
    for convoy in draft.state.live():
        number = convoy.comment
        if number is None or convoy.held == NO:
            continue
        if await context.github.comment(number) is None:
            draft.submit(NoteDeletedComment(convoy=convoy.name, comment=number))
