"""Carries out the commands in comments and answers them.

Each comment is answered once: by a reaction, and by words if there is something to
say. A comment delivered twice has its answer announced or given already, and changes
nothing.
"""

import asyncio
from typing import Final

from bot.context.bot_context import BotContext
from bot.door.inbox import Remark
from bot.forge.transport import Precedence, going
from bot.repository.draft import Draft
from bot.requests import obeyed_labels
from bot.requests.answer_place import Asked, give
from bot.requests.heard_enough import has_heard_enough
from bot.requests.mailed_texts import is_mailed
from bot.roles import mayor
from bot.text import replies
from bot.text.replies import Reply
from bot.text.slash_commands import (
    FoundCommand,
    MalformedCommand,
    SlashCommand,
    mentioned,
    slash_commands,
)
from bot.verbs.carry_out import carry_out
from bot.verbs.parsing import parsed
from bot.verbs.request_context import Asker, convoy_of
from bot.verbs.verb import Place
from convoy.model import ids
from convoy.model.state import State

EYES: Final = "eyes"


async def answer(context: BotContext, draft: Draft, remark: Remark) -> None:
    """Carry out a comment's commands and announce the answer. Safe to call twice."""
    said = await commands(context, draft.state, remark)
    if not said:
        return
    if await has_heard_enough(
        context, draft, by=remark.by, issue=remark.issue, comment=remark.comment
    ):
        return
    await acknowledge(context, remark.comment)
    nonce = str(remark.comment)
    if await is_mailed(context, remark):
        given = [replies.MAILED]
    else:
        given = [
            await carry_out_command(context, draft, remark, each, nonce)
            for each in said
        ]
    asked = Asked(
        by=remark.by,
        issue=remark.issue,
        comment=remark.comment,
        on_pull=remark.on_pull,
    )
    give(context, draft, asked, given)


async def commands(
    context: BotContext, state: State, remark: Remark
) -> tuple[FoundCommand, ...]:
    """Return the commands of a comment that are still to be answered."""
    key = ids.answer_key(remark.comment)
    if key in state.intents or remark.comment in state.answered:
        return ()
    # Hostile text takes seconds.
    said = await asyncio.to_thread(slash_commands, remark.text)
    if not said:
        said = await _mention(context, state, remark)
    if not said or await obeyed_labels.is_off_limits(context, remark.issue):
        return ()
    return said


async def acknowledge(context: BotContext, comment: int) -> None:
    """React to a command at once, unless this process has. Safe to call twice.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge said no.
    """
    acknowledged = context.memory.acknowledged
    if not acknowledged.add(comment):
        return
    try:
        with going(Precedence.AT_ONCE):
            await context.github.react(comment, EYES)
    except BaseException:
        acknowledged.discard(comment)
        raise


async def _mention(
    context: BotContext, state: State, remark: Remark
) -> tuple[FoundCommand, ...]:
    """Read a mention of the bot as `/brat start`, on an issue without a convoy."""
    if remark.on_pull or convoy_of(state, remark.issue) is not None:
        return ()
    text = await asyncio.to_thread(mentioned, remark.text, context.login)
    if text is None or not mayor.heeds_mentions(context):
        return ()
    return (SlashCommand(verb="start", text=text),)


async def carry_out_command(
    context: BotContext,
    draft: Draft,
    remark: Remark,
    said: FoundCommand,
    nonce: str,
    review: int = 0,
) -> Reply:
    """Carry out one command of a remark, with its author's right.

    Args:
        context: the bot's.
        draft: takes the resulting events.
        remark: the comment with the command.
        said: the command.
        nonce: see `Asker`.
        review: the review that the remark is the text of; 0: it is a comment.
    """
    if isinstance(said, MalformedCommand):
        return replies.malformed(said.why)
    place: Place = "pull" if remark.on_pull else "issue"
    request = await asyncio.to_thread(parsed, said, place)
    if isinstance(request, MalformedCommand):
        return replies.malformed(request.why)
    asker = Asker(
        by=remark.by, number=remark.issue, nonce=nonce, remark=remark, review=review
    )
    return await carry_out(context, draft, asker, request)
