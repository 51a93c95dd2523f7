"""What a person asks of a pull request: approve, revise, rebase, merge or leave it."""

import asyncio
from typing import Final, assert_never

from bot.desk import Desk
from bot.orders import replies
from bot.orders.asker import Asker, do
from bot.orders.replies import Reply
from bot.repository.compose import Conflicted, Piece
from bot.repository.draft import Draft
from bot.speech import requests as asked
from convoy import ids
from convoy.commands import (
    ApproveWork,
    RebaseWork,
    RequestMerge,
    ReviseTask,
    WithdrawMerge,
)
from convoy.state import Convoy, Task, Work

HEADS: Final = "refs/heads/"

PullRequest = asked.Revise | asked.Merge | asked.Unqueue | asked.Rebase


async def carry_out(
    desk: Desk, draft: Draft, asker: Asker, convoy: Convoy, request: PullRequest
) -> Reply:
    """Put one request to the rules and return what is to be said of it."""
    task = asker.own_task(convoy)
    number = task.number if task else 0
    match request:
        case asked.Merge():
            merge = RequestMerge(convoy=convoy.name, task=number, by=asker.by)
            return do(draft, merge, replies.QUEUED)
        case asked.Unqueue():
            leave = WithdrawMerge(convoy=convoy.name, task=number, by=asker.by)
            return do(draft, leave, replies.UNQUEUED)
        case asked.Revise(text=text):
            return revise(draft, asker, convoy, text)
        case asked.Rebase():
            if task is None or task.work is None:
                return replies.refused(replies.NO_WORK)
            return await asyncio.to_thread(
                _rebase, desk, draft, asker, convoy, task, task.work
            )
        case _:
            assert_never(request)


def approve(draft: Draft, asker: Asker, convoy: Convoy, commit: str | None) -> Reply:
    """Count an approval of exactly one commit."""
    task = asker.own_task(convoy)
    if task is None:
        return replies.refused(replies.NO_WORK)
    if commit is None:
        return replies.refused(replies.name_the_commit(task))
    command = ApproveWork(
        convoy=convoy.name, task=task.number, commit=commit, by=asker.by
    )
    wanted, have = convoy.settings.approvals, len(task.approved_by) + 1
    return do(draft, command, replies.approved(have, wanted))


def revise(draft: Draft, asker: Asker, convoy: Convoy, text: str) -> Reply:
    """Send the task back with the text; its work is kept, and gone on from."""
    task = asker.own_task(convoy)
    if task is None:
        return replies.refused(replies.NO_WORK)
    command = ReviseTask(convoy=convoy.name, task=task.number, by=asker.by, text=text)
    if refused := draft.submit(command):
        return replies.refused(refused.why)
    _keep(draft, convoy, task)
    spent = task.spent >= convoy.settings.attempts
    return replies.revised(task.number, blocked=spent)


def _rebase(
    desk: Desk, draft: Draft, asker: Asker, convoy: Convoy, task: Task, work: Work
) -> Reply:
    """Put the work on what has landed since, and move the branch with it; blocking."""
    onto = draft.refs.get(HEADS + ids.base_branch(convoy.name), work.base)
    desk.mirror.ensure([work.commit, work.base, onto])
    branch = ids.task_branch(convoy.name, task.number)
    piece = Piece(
        base=work.base,
        work=work.commit,
        onto=onto,
        message=f"{task.spec.title}\n\nBrat-Task: {branch}\n",
        at=work.at,
    )
    made = desk.composer.build("rebase", piece)
    if isinstance(made, Conflicted):
        return replies.refused(replies.conflicts(made.paths))
    command = RebaseWork(
        convoy=convoy.name,
        task=task.number,
        old=work.commit,
        commit=made,
        base=onto,
        by=asker.by,
    )
    if refused := draft.submit(command):
        return replies.refused(refused.why)
    _keep(draft, convoy, task)
    draft.move(HEADS + branch, made)
    return replies.rebased(made, anew=bool(convoy.settings.approvals))


def _keep(draft: Draft, convoy: Convoy, task: Task) -> None:
    """Keep the work that is replaced: none is ever lost."""
    if task.work is not None:
        draft.keep(convoy.name, task.number, task.work.attempt, task.work.commit)
