"""The ear: commands in comments, from what was said to what is decided and answered.

Each comment is answered once: by a reaction under it, and by one reply where there is
something to say. A comment that comes again (GitHub delivers twice) finds its answer
announced or given, and changes nothing.
"""

import asyncio
from typing import Final

from bot import mayor, orders, replies
from bot.asker import Asker
from bot.desk import Desk
from bot.draft import Draft
from bot.inbox import Remark, Request as Labelled
from bot.replies import Reply
from bot.speech import requests as asked
from bot.speech.grammar import Misheard, Said, heard
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
        return
    await desk.github.react(remark.comment, EYES)
    given = [await _one(desk, draft, remark, each) for each in said]
    draft.submit(
        Answer(
            issue=remark.issue,
            comment=remark.comment,
            reaction=replies.reaction(given),
            text=replies.text(remark.by, given),
        )
    )


async def _one(
    desk: Desk, draft: Draft, remark: Remark, said: Said | Misheard
) -> Reply:
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
    asker = Asker(by=remark.by, number=remark.issue, nonce=str(remark.comment))
    return await orders.carry_out(desk, draft, asker, request)


async def _start(
    desk: Desk, draft: Draft, remark: Remark, request: asked.Start
) -> Reply:
    issue = await desk.github.issue(remark.issue)
    labelled = Labelled(
        issue=issue.number,
        title=remark.title,
        text=remark.body,
        by=remark.by,
        added=request.text,
    )
    why = await mayor.begin(desk, draft, labelled, issue)
    return replies.refused(why) if why else replies.done("The convoy is being planned.")
