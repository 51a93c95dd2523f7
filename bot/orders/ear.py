"""The ear: commands in comments, from what was said to what is decided and answered.

Each comment is answered once: by a reaction under it, and by one reply where there is
something to say. A comment that comes again (GitHub delivers twice) finds its answer
announced or given, and changes nothing.
"""

import asyncio
from typing import Final

from bot.desk import Desk
from bot.door import labels
from bot.door.inbox import Remark, Request as Labelled
from bot.orders import carrying as orders, replies
from bot.orders.asker import Asker
from bot.orders.replies import Reply
from bot.repository.draft import Draft
from bot.roles import mayor
from bot.roles.admission import EDITED_SINCE_SAID, edited_since
from bot.speech import requests as asked
from bot.speech.grammar import Heard, Misheard, Said, heard
from bot.speech.mention import mentioned
from bot.speech.verbs import checked, verb_of
from convoy import ids
from convoy.commands import Answer

EYES: Final = "eyes"


async def attend(desk: Desk, draft: Draft, remark: Remark) -> None:
    """Carry out what a comment asks for and announce its answer. Safe to call twice."""
    key = ids.answer_key(remark.comment)
    if key in draft.state.intents or remark.comment in draft.state.answered:
        return
    said = await asyncio.to_thread(heard, remark.text)  # hostile text takes seconds
    if not said:
        said = await _called(desk, draft, remark)
    if not said or await labels.is_off_limits(desk, remark.issue):
        return
    await desk.github.react(remark.comment, EYES)
    nonce = str(remark.comment)
    given = [await obey(desk, draft, remark, each, nonce) for each in said]
    draft.submit(
        Answer(
            issue=remark.issue,
            comment=remark.comment,
            reaction=replies.reaction(given),
            text=replies.text(remark.by, given),
        )
    )


async def _called(desk: Desk, draft: Draft, remark: Remark) -> tuple[Heard, ...]:
    """Take a mention of the bot for `/brat start`, on an issue that had no convoy."""
    if remark.on_pull or orders.convoy_of(draft.state, remark.issue) is not None:
        return ()
    text = await asyncio.to_thread(mentioned, remark.text, desk.login)
    if text is None or not mayor.heeds_mentions(desk):
        return ()
    return (Said(verb="start", text=text),)


async def obey(
    desk: Desk, draft: Draft, remark: Remark, said: Heard, nonce: str
) -> Reply:
    """Carry out one command of a remark, by the right of who said it.

    Args:
        desk: of the bot.
        draft: takes what is decided.
        remark: where it stands.
        said: the command.
        nonce: as in `Asker`.
    """
    if isinstance(said, Misheard):
        return replies.misheard(said)
    request = checked(said, "pull" if remark.on_pull else "issue")
    if isinstance(request, Misheard):
        return replies.misheard(request)
    verb = verb_of(request)
    if verb.right != "read" and not await desk.github.may(remark.by, verb.right):
        return replies.denied(verb.name, verb.right)
    if isinstance(request, asked.Start):
        return await _start(desk, draft, remark, request)
    asker = Asker(by=remark.by, number=remark.issue, nonce=nonce)
    return await orders.carry_out(desk, draft, asker, request)


async def _start(
    desk: Desk, draft: Draft, remark: Remark, request: asked.Start
) -> Reply:
    issue = await desk.github.issue(remark.issue)
    title, text = remark.title, remark.body
    if remark.at is not None:  # found by a look: nobody froze the issue
        if await edited_since(desk, issue, remark.at):
            return replies.refused(EDITED_SINCE_SAID)
        title, text = issue.title, issue.body or ""
    labelled = Labelled(
        issue=issue.number,
        title=title,
        text=text,
        by=remark.by,
        added=request.text,
        pattern=request.pattern,
        inputs=request.inputs,
    )
    why = await mayor.begin(desk, draft, labelled, issue)
    return replies.refused(why) if why else replies.done("The convoy is being planned.")
