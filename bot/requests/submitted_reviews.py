"""Reviews of the bot's pull requests: their commands and their verdict.

The rules decide on each review with its author's right. A review is answered once,
under a key made from its id.
"""

import asyncio
from typing import Final

from msgspec import structs

from bot.context.bot_context import BotContext
from bot.door import delivery_meaning
from bot.door.inbox import Remark, Review
from bot.forge.payloads import Reviewed
from bot.repository.draft import Draft
from bot.requests import comments, obeyed_labels
from bot.requests.answer_place import Asked, give
from bot.requests.heard_enough import has_heard_enough
from bot.requests.mailed_texts import is_mailed
from bot.text import replies
from bot.text.replies import Reply
from bot.text.slash_commands import FoundCommand, SlashCommand, slash_commands
from bot.verbs.carry_out import carry_out
from bot.verbs.parsing import cleaned
from bot.verbs.request_context import Asker, convoy_of
from bot.verbs.verb import Request
from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.rules.turns import changes_ci

_VERB_OF: Final = {"approved": "approve", "changes_requested": "revise"}
SEE_REVIEW: Final = "see the review's comments on the lines of the change"
LATE_REVIEW: Final = replies.refused(
    "this review was found by a look, and GitHub does not tell whether its text was "
    "edited since: say its commands in a comment"
)


async def answer(context: BotContext, draft: Draft, review: Review) -> None:
    """Carry out a review and announce its answer. Safe to call twice."""
    key, number = ids.sign_key("review", str(review.review)), review.pull
    if key in draft.state.intents or key in draft.state.heard:
        return
    convoy = convoy_of(draft.state, number)
    # Hostile text takes seconds.
    said = await asyncio.to_thread(slash_commands, review.text)
    off_limits = obeyed_labels.is_off_limits
    if (convoy is None and not said) or await off_limits(context, number):
        return
    asks = said or review.verdict in _VERB_OF
    if asks and await has_heard_enough(
        context, draft, by=review.by, issue=number, sign=key
    ):
        return
    given = await _carry_out_commands(context, draft, review, said, key)
    if convoy is not None and (review.late or not _repeats(review, said)):
        given += await _carry_out_verdict(context, draft, convoy, review, key)
    if given:
        asked = Asked(by=review.by, issue=number, sign=key, on_pull=True)
        give(context, draft, asked, given)


async def keep_missed(context: BotContext, state: State) -> None:
    """Keep reviews whose delivery was lost, as the door would. Safe to call again.

    Only reviews of the current work count: newer work has answered older reviews.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show its reviews.
    """
    for convoy in state.live():
        for task in convoy.tasks:
            if task.state == "needs-review" and task.pull is not None:
                for review in await context.github.pulls.reviews(task.pull):
                    if ids.sign_key("review", str(review.id)) not in state.heard:
                        _keep(context, task, review)


def _keep(context: BotContext, task: Task, found: Reviewed) -> None:
    heads = [each.commit for each in (task.work, task.candidate) if each is not None]
    if found.commit_id not in heads or task.pull is None:
        return
    review = delivery_meaning.reviewed(task.pull, found, found.user)
    if review is not None:
        kept = structs.replace(review, late=True)
        context.inbox.put(f"sweep-review-{found.id}", kept)


def _repeats(review: Review, said: tuple[FoundCommand, ...]) -> bool:
    """Whether a command repeats the verdict; then the command counts instead."""
    verbs = {each.verb for each in said if isinstance(each, SlashCommand)}
    return _VERB_OF.get(review.verdict) in verbs


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
        await comments.carry_out_command(
            context, draft, remark, each, key, review.review
        )
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
    if verb == "approve" and not _is_asked_for(convoy, review.pull):
        return []
    request = (
        Request(verb, {"commit": review.commit})
        if verb == "approve"
        else Request(verb, text=await _review_text(context, review))
    )
    asker = Asker(by=review.by, number=review.pull, nonce=key, review=review.review)
    return [await carry_out(context, draft, asker, request)]


def _is_asked_for(convoy: Convoy, pull: int) -> bool:
    """Whether the work of a pull request needs approvals."""
    if convoy.settings.approvals:
        return True
    return any(changes_ci(task) for task in convoy.tasks if task.pull == pull)


async def _review_text(context: BotContext, review: Review) -> str:
    """Return a review's text with its comments on lines, cleaned."""
    lines = await context.github.pulls.review_lines(review.pull, review.review)
    said = (review.text, *(f"{line.path}: {line.body or ''}" for line in lines))
    text = await asyncio.to_thread(cleaned, "\n\n".join(filter(None, said)))
    return text.strip() or SEE_REVIEW
