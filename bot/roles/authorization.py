"""Asks the forge again, when work starts or lands, for the rights of its people.

For a start, these are whoever asked for the convoy, approved its plan or resumed it.
For a landing, they are whoever approved the work or put it back into the merge queue.
If one of them lost the right in the meantime, or took back the comment that approved
the plan, the convoy waits for somebody else.

The log says who approved; the forge says whether they still do: the review or comment
is there, by the same person, for the same commit, and they may still write. What the
forge does not show is no approval, whatever the log says.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from bot.forge.github import Right
from bot.forge.payloads import Account, Reviewed
from bot.repository.strangers_commits import ci_changes
from bot.roles.bot_context import BotContext, BotDraft
from bot.text import notices, phrase
from bot.text.merge_texts import may_not_write
from bot.text.slash_commands import SlashCommand, slash_commands
from convoy.events.hold_events import MergeWithdrawn
from convoy.events.people_events import ApprovalVoided, ConvoyPaused
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.model.work import SKEW_MS, Approval
from convoy.owed import AskMerge, Begin, Land, LandConvoy


async def may_start(draft: BotDraft, action: Begin, known: set[str]) -> bool:
    """Whether somebody with write access answers for this start; else pause the convoy.

    `known` are the logins, and the approvals of plans, already found to stand: each is
    asked about once.
    """
    convoy = draft.state.convoys[action.convoy]
    by, plan = convoy.sponsor, f"{convoy.name}#{convoy.vouched_in}"
    why = text = ""
    if by not in known and ids.is_login(by) and not await draft.bot.github.may(by):
        why, text = may_not_write(by), phrase("unvouched", by=by)
    elif plan not in known and (why := await plan_fault(draft.bot, convoy)):
        text = notices.plan_unapproved(by, why)
    if not why:
        known |= {by, plan}
        return True
    pause = ConvoyPaused(convoy=convoy.name, by=draft.bot.login, why=why)
    if draft.submit(pause) is None:
        draft.say(convoy.issue, "vouch", f"{convoy.name}/{draft.now}", text)
    return False


async def may_land(draft: BotDraft, action: Land) -> bool:
    """Whether everybody who let this work land still has the right to do so.

    Otherwise the draft withdraws the approvals of those who lost it, and takes the work
    that they put into the merge queue out again.
    """
    convoy = draft.state.convoys[action.convoy]
    landing = [task for task in convoy.tasks if task.number in action.tasks]
    approved = True
    for task in landing:
        for by, why in (await fallen(draft.bot, task)).items():
            void = ApprovalVoided(convoy=convoy.name, task=task.number, by=by, why=why)
            draft.submit(void)
            approved = False
        if by := task.put_back_by:
            approved &= await _still_may(draft, convoy, task.number, by, "maintain")
    last = landing[-1].candidate if landing else None
    if not approved or last is None:
        return False
    return _ci_is_seen(draft, convoy, landing[-1], last.commit)


async def convoy_may_land(draft: BotDraft, action: LandConvoy | AskMerge) -> bool:
    """Whether the person who lets the convoy land still has the right to do so."""
    convoy = draft.state.convoys[action.convoy]
    if by := convoy.put_back_by:
        return await _still_may(draft, convoy, 0, by, "maintain")
    by = convoy.sponsor
    if not await _still_may(draft, convoy, 0, by, "write"):
        return False
    if why := await plan_fault(draft.bot, convoy):
        text = notices.plan_unapproved(by, why, lands=True)
        _withdraw(draft, convoy, 0, text)
        return False
    candidate = convoy.candidate
    if candidate is None or convoy.lands_given is not None:
        return True  # who gave a pull request answers for all that it changes
    return _ci_is_seen(draft, convoy, None, candidate.commit)


def _ci_is_seen(
    draft: BotDraft, convoy: Convoy, task: Task | None, commit: str
) -> bool:
    """Whether a person has looked at all that a commit changes of what CI runs.

    Otherwise its verdict may be the agent's own: what lands goes out of the queue until
    somebody puts it back, who then answers for it.
    """
    target = draft.refs.get(ids.HEADS + convoy.target, "")
    if not target or (task.put_back_by if task is not None else convoy.put_back_by):
        return True
    seen = {
        path
        for each in convoy.tasks
        if each.approvals and each.work is not None
        for path in each.work.ci_files
    }
    draft.bot.mirror.ensure([target, commit])
    changed = ci_changes(draft.bot.mirror.path, target, commit)
    if not (unseen := [path for path in changed if path not in seen]):
        return True
    number = task.number if task is not None else 0
    _withdraw(draft, convoy, number, notices.ci_changed(unseen), commit)
    return False


async def _still_may(
    draft: BotDraft, convoy: Convoy, task: int, by: str, right: Right
) -> bool:
    if not ids.is_login(by) or await draft.bot.github.may(by, right):
        return True
    _withdraw(draft, convoy, task, phrase("unanswered-for", by=by))
    return False


def _withdraw(
    draft: BotDraft, convoy: Convoy, number: int, text: str, unseen_in: str = ""
) -> None:
    """Take out of the merge queue, and say so on the pull request, or on the issue.

    Of a commit with CI files that are `unseen_in` it, that is said once.
    """
    leave = MergeWithdrawn(convoy=convoy.name, task=number, by=draft.bot.login)
    if draft.submit(leave) is None:
        task = convoy.task(number)
        about = f"{convoy.name}/{number}/{unseen_in or draft.now}"
        on = (task.pull if task else convoy.pull) or convoy.issue
        draft.say(on, "ci-files" if unseen_in else "landing", about, text)


_VERDICTS: Final = frozenset({"approved", "changes_requested", "dismissed"})


async def fallen(context: BotContext, task: Task) -> dict[str, str]:
    """Return the people whose approval of a task's work does not stand, and why."""
    work, found = task.work, dict[str, str]()
    if work is None or not task.approvals:
        return found
    reviews = await context.github.pulls.reviews(task.pull) if task.pull else []
    for approval in task.approvals:
        by = approval.by
        own = [each for each in reviews if _is_by(each.user, by)]
        given: datetime | str
        if not await context.github.may(by):
            given = may_not_write(by)
        elif approval.comment:
            what = approval.comment, approval.commit
            given = await _approving_comment(context, *what, by, task.pull)
        else:
            given = _approving_review(own, approval)
        if isinstance(given, str):
            found[by] = given
            continue
        # Times have whole seconds: of the same second, what asks for changes counts.
        after = (one for one in own if one.submitted_at and one.submitted_at >= given)
        newer = [one for one in after if _verdict(one) in _VERDICTS]
        if given.timestamp() * 1000 < work.at - SKEW_MS:
            found[by] = phrase("older-approval")
        elif newer and _verdict(newer[-1]) == "changes_requested":
            found[by] = phrase("approval-taken-back")
    return found


def _approving_review(own: Sequence[Reviewed], approval: Approval) -> datetime | str:
    """Return when the review was given, or why it is no approval any more."""
    if approval.review:
        own = [each for each in own if each.id == approval.review]
    if not own:
        return phrase("no-review")
    for each in reversed(own):
        verdict, commit = _verdict(each), approval.commit
        is_open = verdict in ("approved", "commented", "changes_requested")
        is_of_commit = verdict == "approved" and each.commit_id == commit
        if is_of_commit or (is_open and _approves(each.body or "", commit)):
            return each.submitted_at or datetime.fromtimestamp(0, UTC)
    is_dismissed = _verdict(own[-1]) == "dismissed"
    return phrase("dismissed-review") if is_dismissed else phrase("not-this-commit")


async def plan_fault(context: BotContext, convoy: Convoy) -> str:
    """Return why the comment that approved a plan does not stand; empty: it does."""
    comment, by = convoy.vouched_in, convoy.vouched_by
    if not comment:
        return ""
    found = await _approving_comment(context, comment, "", by, convoy.issue)
    return found if isinstance(found, str) else ""


async def _approving_comment(
    context: BotContext, comment: int, commit: str, by: str, number: int | None
) -> datetime | str:
    """Return when a comment approved a commit, or else the plan; or why it does not."""
    found = await context.github.remark(comment)
    if found is None or not _is_by(found.user, by):
        return phrase("no-comment")
    if found.number != number or found.updated_at > found.created_at:
        return phrase("edited-approval")
    if not await asyncio.to_thread(_approves, found.body or "", commit):
        return phrase("not-this-commit") if commit else phrase("not-the-plan")
    return found.created_at


def _approves(text: str, commit: str) -> bool:
    """Whether a text holds the command that approves a commit, or else the plan."""
    return any(
        not commit or commit.startswith(said.words[0].lower())
        for said in slash_commands(text)
        if isinstance(said, SlashCommand)
        and said.verb == "approve"
        and len(said.words) == bool(commit)
    )


def _is_by(who: Account | None, by: str) -> bool:
    return who is not None and who.login.casefold() == by.casefold()


def _verdict(review: Reviewed) -> str:
    return review.state.casefold()
