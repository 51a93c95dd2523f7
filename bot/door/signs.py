"""Reviews and ticked boxes: what people ask for without a comment.

Each is decided by the rules, by the right of who did it, and answered once, under a key
of the review's id or of the delivery that told of the tick.
"""

import asyncio
from typing import Final

from msgspec import structs

from bot.desk import Desk
from bot.door import labels, triage
from bot.door.inbox import Remark, Review, Ticked
from bot.forge.payloads import Reviewed
from bot.orders import boxes, carrying as orders, ear, replies
from bot.orders.asker import Asker
from bot.orders.replies import Reply
from bot.repository.draft import Draft
from bot.speech import requests as asked
from bot.speech.cleaning import clean
from bot.speech.grammar import Heard, Said, heard
from bot.speech.requests import Request
from bot.speech.verbs import TEXT_CHARS, verb_of
from convoy import ids
from convoy.commands import Answer
from convoy.state import Convoy, State, Task

_VERB_OF: Final = {"approved": "approve", "changes_requested": "revise"}


async def attend(
    desk: Desk, draft: Draft, delivery: str, sign: Review | Ticked
) -> None:
    """Carry out what a sign asks for and announce its answer. Safe to call twice."""
    if isinstance(sign, Review):
        key, number = ids.sign_key("review", str(sign.review)), sign.pull
    else:
        key, number = ids.sign_key("tick", delivery), sign.issue
    if key in draft.state.intents or key in draft.state.heard:
        return
    convoy = orders.convoy_of(draft.state, number)
    said = await _commands(sign)
    if (convoy is None and not said) or await labels.is_off_limits(desk, number):
        return
    asker = Asker(by=sign.by, number=number, nonce=key)
    if isinstance(sign, Review):
        given = await _obeyed(desk, draft, sign, said, key)
        if convoy is not None and (sign.late or not _repeats(sign, said)):
            given += await _reviewed(desk, draft, asker, convoy, sign)
    elif convoy is None:
        return
    else:
        given = await _ticked(desk, draft, asker, convoy, sign)
    if given:
        text = replies.text(sign.by, given)
        draft.submit(Answer(issue=number, sign=key, text=text))


async def missed(desk: Desk, state: State) -> None:
    """Keep reviews that no delivery told of, as the door would. Safe to call again.

    Only those of the work as it is: what was said of older work is answered by it.

    Raises:
        Unavailable: the forge did not answer.
        Refused: it does not show its reviews.
    """
    for convoy in state.live():
        for task in convoy.tasks:
            if task.state == "needs-review" and task.pull is not None:
                for review in await desk.github.reviews(task.pull):
                    if ids.sign_key("review", str(review.id)) not in state.heard:
                        _keep(desk, task, review)


def _keep(desk: Desk, task: Task, found: Reviewed) -> None:
    heads = [each.commit for each in (task.work, task.candidate) if each is not None]
    if found.commit_id not in heads or task.pull is None:
        return
    review = triage.reviewed(task.pull, found, found.user)
    if review is not None:
        kept = structs.replace(review, late=True)
        desk.inbox.put(f"sweep-review-{found.id}", kept)


async def _commands(sign: Review | Ticked) -> tuple[Heard, ...]:
    """Return the commands in a review's text, heard as in a comment."""
    if isinstance(sign, Ticked):
        return ()
    return await asyncio.to_thread(heard, sign.text)  # hostile text takes seconds


def _repeats(review: Review, said: tuple[Heard, ...]) -> bool:
    """Whether a command says what the verdict does: it counts, with its arguments."""
    verbs = {each.verb for each in said if isinstance(each, Said)}
    return _VERB_OF.get(review.verdict) in verbs


async def _obeyed(
    desk: Desk, draft: Draft, review: Review, said: tuple[Heard, ...], key: str
) -> list[Reply]:
    """Carry out a review's commands; GitHub does not tell when one was edited."""
    if said and review.late:
        return [replies.LATE_REVIEW]
    remark = Remark(
        issue=review.pull,
        comment=review.review,
        text=review.text,
        by=review.by,
        on_pull=True,
    )
    return [await ear.obey(desk, draft, remark, each, key) for each in said]


async def _reviewed(
    desk: Desk, draft: Draft, asker: Asker, convoy: Convoy, review: Review
) -> list[Reply]:
    """Approve or revise; an approval that nobody asks for is none of ours."""
    if asker.own_task(convoy) is None or review.verdict == "commented":
        return []
    if review.verdict == "approved":
        if not convoy.settings.approvals:
            return []
        return [await _one(desk, draft, asker, asked.Approve(review.commit))]
    lines = await desk.github.review_lines(review.pull, review.review)
    said = (review.text, *(f"{line.path}: {line.body or ''}" for line in lines))
    whole = "\n\n".join(filter(None, said))
    text = await asyncio.to_thread(clean, whole, limit=TEXT_CHARS)
    text = text.strip() or replies.SEE_REVIEW
    return [await _one(desk, draft, asker, asked.Revise(text))]


async def _ticked(
    desk: Desk, draft: Draft, asker: Asker, convoy: Convoy, ticked: Ticked
) -> list[Reply]:
    """Do what the boxes of the convoy's own comment ask for."""
    if convoy.comment != ticked.comment:
        return []
    desk.unticked.setdefault(ticked.comment, set()).update(ticked.boxes)
    wanted = [boxes.request_of(key) for key in ticked.boxes]
    return [
        await _one(desk, draft, asker, request)
        for request in wanted
        if request is not None
    ]


async def _one(desk: Desk, draft: Draft, asker: Asker, request: Request) -> Reply:
    verb = verb_of(request)
    if verb.right != "read" and not await desk.github.may(asker.by, verb.right):
        return replies.denied(verb.name, verb.right)
    return await orders.carry_out(desk, draft, asker, request)
