"""Carries out what comments and reviews ask for: commands, and verdicts on work.

Each is answered once: by a reaction, and by words if there is something to say. One
delivered twice has its answer announced or given already, and changes nothing. The
rules decide on each with its author's right.

Whoever forges a mail's sender speaks in that person's name, so a text that was sent by
mail commands nothing. Only texts with commands are asked about: each takes a request.
"""

import asyncio
from http import HTTPStatus
from typing import Final

from msgspec import structs

from bot.door import delivery_meaning
from bot.door.inbox import Remark, Review
from bot.forge.payloads import Reviewed
from bot.forge.rest import Refused
from bot.forge.transport import Precedence, going
from bot.repository.draft import Draft
from bot.requests import answers
from bot.requests.answers import Asked, carry_out, give_answer, has_heard_enough
from bot.requests.verb import Asker, Place, Request, convoy_of
from bot.requests.verb_table import clean_request, parsed
from bot.roles import mayor
from bot.roles.bot_context import BotContext
from bot.text import replies
from bot.text.replies import Reply
from bot.text.slash_commands import (
    FoundCommand,
    MalformedCommand,
    SlashCommand,
    mentioned,
    slash_commands,
)
from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.rules.turns import changes_ci

EYES: Final = "eyes"


async def answer_comment(context: BotContext, draft: Draft, remark: Remark) -> None:
    """Carry out a comment's commands and announce the answer. Safe to call twice."""
    asked = Asked(
        by=remark.by,
        issue=remark.issue,
        comment=remark.comment,
        on_pull=remark.on_pull,
    )
    if asked.is_ignored(draft, remark.at):
        return
    said = await commands_in(context, draft.state, remark)
    if not said or await has_heard_enough(context, draft, asked):
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
    give_answer(context, draft, asked, given)


async def commands_in(
    context: BotContext, state: State, remark: Remark
) -> tuple[FoundCommand, ...]:
    key = ids.answer_key(remark.comment)
    if key in state.intents or remark.comment in state.answered:
        return ()
    # Hostile text takes seconds.
    said = await asyncio.to_thread(slash_commands, remark.text)
    if not said:
        said = await _mention(context, state, remark)
    if not said or await answers.is_off_limits(context, remark.issue):
        return ()
    return said


async def acknowledge(context: BotContext, comment: int) -> None:
    """React to a command at once, unless this process has. Safe to call twice."""
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

    `review` is the review that the remark is the text of; 0: it is a comment.
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


_VERB_OF: Final = {"approved": "approve", "changes_requested": "revise"}
SEE_REVIEW: Final = "see the review's comments on the lines of the change"
LATE_REVIEW: Final = replies.refused(
    "this review was found by a look, and GitHub does not tell whether its text was "
    "edited since: say its commands in a comment"
)


async def answer_review(context: BotContext, draft: Draft, review: Review) -> None:
    """Carry out a review and announce its answer. Safe to call twice."""
    key, number = ids.sign_key("review", str(review.review)), review.pull
    asked = Asked(by=review.by, issue=number, sign=key, on_pull=True)
    if asked.is_answered(draft.state):
        return
    convoy = convoy_of(draft.state, number)
    # Hostile text takes seconds.
    said = await asyncio.to_thread(slash_commands, review.text)
    is_talk = convoy is None and not said
    if is_talk or await answers.is_off_limits(context, number):
        return
    asks = said or review.verdict in _VERB_OF
    if asks and await has_heard_enough(context, draft, asked):
        return
    given = await _carry_out_commands(context, draft, review, said, key)
    verbs = {each.verb for each in said if isinstance(each, SlashCommand)}
    is_repeated = _VERB_OF.get(review.verdict) in verbs  # the command counts instead
    if convoy is not None and (review.late or not is_repeated):
        given += await _carry_out_verdict(context, draft, convoy, review, key)
    if given:
        give_answer(context, draft, asked, given)


async def keep_missed_reviews(context: BotContext, state: State) -> None:
    """Keep reviews whose delivery was lost, as the door would. Safe to call again.

    Only reviews of the current work count: newer work has answered older reviews.
    """
    for convoy in state.live():
        for task in convoy.tasks:
            if task.state == "needs-review" and task.pull is not None:
                for review in await context.github.pulls.reviews(task.pull):
                    if ids.sign_key("review", str(review.id)) not in state.heard:
                        _keep_review(context, task, review)


def _keep_review(context: BotContext, task: Task, found: Reviewed) -> None:
    heads = [each.commit for each in (task.work, task.candidate) if each is not None]
    if found.commit_id not in heads or task.pull is None:
        return
    review = delivery_meaning.reviewed(task.pull, found, found.user)
    if review is not None:
        kept = structs.replace(review, late=True)
        context.inbox.put(f"sweep-review-{found.id}", kept)


async def _carry_out_commands(
    context: BotContext,
    draft: Draft,
    review: Review,
    said: tuple[FoundCommand, ...],
    key: str,
) -> list[Reply]:
    """Carry out a review's commands, unless they may be edited or forged."""
    if said and review.late:
        return [LATE_REVIEW]
    if said and await is_mailed(context, review):
        return [replies.MAILED]
    remark = Remark(
        issue=review.pull,
        comment=review.review,
        text=review.text,
        by=review.by,
        on_pull=True,
    )
    return [
        await carry_out_command(context, draft, remark, each, key, review.review)
        for each in said
    ]


async def _carry_out_verdict(
    context: BotContext, draft: Draft, convoy: Convoy, review: Review, key: str
) -> list[Reply]:
    """Approve or revise; an approval counts only if the convoy needs approvals."""
    own = any(task.pull == review.pull for task in convoy.tasks)
    verb = _VERB_OF.get(review.verdict)
    if verb is None or not own:
        return []
    work = (task for task in convoy.tasks if task.pull == review.pull)
    is_asked_for = convoy.settings.approvals or any(map(changes_ci, work))
    if verb == "approve" and not is_asked_for:
        return []
    request = (
        Request(verb, {"commit": review.commit})
        if verb == "approve"
        else Request(verb, text=await _review_text(context, review))
    )
    asker = Asker(by=review.by, number=review.pull, nonce=key, review=review.review)
    return [await carry_out(context, draft, asker, request)]


async def _review_text(context: BotContext, review: Review) -> str:
    lines = await context.github.pulls.review_lines(review.pull, review.review)
    said = (review.text, *(f"{line.path}: {line.body or ''}" for line in lines))
    text = await asyncio.to_thread(clean_request, "\n\n".join(filter(None, said)))
    return text.strip() or SEE_REVIEW


async def is_mailed(context: BotContext, said: Remark | Review) -> bool:
    node = said.node or await _node(context, said)
    return await context.github.remarks.is_mailed(node)


async def _node(context: BotContext, said: Remark | Review) -> str:
    if isinstance(said, Review):
        reviews = await context.github.pulls.reviews(said.pull)
        found = (one.node_id for one in reviews if one.id == said.review)
        node = next(found, "")
    else:
        comment = await context.github.remarks.one(said.comment)
        node = comment.node_id if comment is not None else ""
    if not node:
        raise Refused("the text of a command", HTTPStatus.GONE, "it is gone")
    return node
