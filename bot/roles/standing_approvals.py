"""Asks the forge which approvals of plans and of work still stand when they count.

The log says who approved; the forge says whether they still do: the review or comment
is there, by the same person, for the same commit, and they may still write. What the
forge does not show is no approval, whatever the log says.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from bot.context.bot_context import BotContext
from bot.forge.payloads import Account, Remarked, Reviewed
from bot.text import replies as texts
from bot.text.merge_texts import may_not_write
from bot.text.slash_commands import SlashCommand, slash_commands
from convoy.model.state import Convoy, Task
from convoy.model.work import Approval, Work

SKEW_MS: Final = 600_000
"""How far the forge's clock may differ from the log's."""
_VERDICTS: Final = frozenset({"approved", "changes_requested", "dismissed"})


async def fallen(context: BotContext, task: Task) -> dict[str, str]:
    """Return the people whose approval of a task's work does not stand, and why.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show the reviews or comments.
    """
    work = task.work
    if work is None or not task.approvals:
        return {}
    reviews = await context.github.pulls.reviews(task.pull) if task.pull else []
    found = {}
    for approval in task.approvals:
        if not await context.github.may_write(approval.by):
            found[approval.by] = may_not_write(approval.by)
        elif why := await _fault(context, task, work, approval, reviews):
            found[approval.by] = why
    return found


async def _fault(
    context: BotContext,
    task: Task,
    work: Work,
    approval: Approval,
    reviews: Sequence[Reviewed],
) -> str:
    """Return why the forge does not show an approval; empty: it shows it.

    Times have whole seconds: of the same second, what asks for changes counts.
    """
    own = [each for each in reviews if _is_by(each.user, approval.by)]
    if approval.comment:
        given = await _comment(context, task, approval)
    else:
        given = _review(own, approval)
    if isinstance(given, str):
        return given
    if given.timestamp() * 1000 < work.at - SKEW_MS:
        return texts.OLDER_APPROVAL
    after = (one for one in own if one.submitted_at and one.submitted_at >= given)
    newer = [one for one in after if _verdict(one) in _VERDICTS]
    is_taken_back = bool(newer) and _verdict(newer[-1]) == "changes_requested"
    return texts.APPROVAL_TAKEN_BACK if is_taken_back else ""


def _review(own: Sequence[Reviewed], approval: Approval) -> datetime | str:
    """Return when the review was given, or why it is no approval any more."""
    if approval.review:
        own = [each for each in own if each.id == approval.review]
    if not own:
        return texts.NO_REVIEW
    fits = [each for each in own if _is_approval(each, approval.commit)]
    if fits:
        return fits[-1].submitted_at or datetime.fromtimestamp(0, UTC)
    is_dismissed = _verdict(own[-1]) == "dismissed"
    return texts.DISMISSED_REVIEW if is_dismissed else texts.NOT_THIS_COMMIT


def _is_approval(review: Reviewed, commit: str) -> bool:
    """Whether a review approves a commit, by its verdict or by a command in it."""
    if _verdict(review) == "approved" and review.commit_id == commit:
        return True
    is_open = _verdict(review) in ("approved", "commented", "changes_requested")
    return is_open and _says(review.body or "", commit)


async def plan_fault(context: BotContext, convoy: Convoy) -> str:
    """Return why the comment that approved a plan does not stand; empty: it does.

    A box or a button leaves nothing on the forge that could be taken back.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show the comment.
    """
    if not convoy.vouched_in:
        return ""
    found = await _unedited(context, convoy.vouched_in, convoy.vouched_by, convoy.issue)
    if isinstance(found, str):
        return found
    says = await asyncio.to_thread(_approves_plan, found.body or "")
    return "" if says else texts.NOT_THE_PLAN


async def _unedited(
    context: BotContext, comment: int, by: str, number: int | None
) -> Remarked | str:
    """Return a comment as it was written, or why it does not count any more."""
    found = await context.github.remarks.one(comment)
    if found is None or not _is_by(found.user, by):
        return texts.NO_COMMENT
    if found.number != number or found.updated_at > found.created_at:
        return texts.EDITED_APPROVAL
    return found


async def _comment(
    context: BotContext, task: Task, approval: Approval
) -> datetime | str:
    """Return when the comment was written, or why it is no approval any more."""
    found = await _unedited(context, approval.comment, approval.by, task.pull)
    if isinstance(found, str):
        return found
    says = await asyncio.to_thread(_says, found.body or "", approval.commit)
    return found.created_at if says else texts.NOT_THIS_COMMIT


def _says(text: str, commit: str) -> bool:
    """Whether a text holds the command that approves a commit."""
    return any(
        isinstance(said, SlashCommand)
        and said.verb == "approve"
        and len(said.words) == 1
        and commit.startswith(said.words[0].lower())
        for said in slash_commands(text)
    )


def _approves_plan(text: str) -> bool:
    """Whether a text holds the command that approves a plan."""
    return any(
        isinstance(said, SlashCommand) and said.verb == "approve" and not said.words
        for said in slash_commands(text)
    )


def _is_by(who: Account | None, by: str) -> bool:
    return who is not None and who.login.casefold() == by.casefold()


def _verdict(review: Reviewed) -> str:
    return review.state.casefold()
