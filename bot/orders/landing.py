"""Who answers for what lands is asked of the forge again when it lands.

That is who approved the work, who put it back into the merge queue, and for the whole
convoy who asked for it or resumed it. It may be hours later, and they may have left.
"""

from typing import Final

from bot.desk import Desk
from bot.orders import replies
from bot.orders.vouching import is_login
from bot.repository.draft import Draft
from bot.speech.registry import Right
from convoy import ids
from convoy.actions import Land, LandConvoy
from convoy.commands import Answer, VoidApproval, WithdrawMerge
from convoy.state import Convoy, Task

WHY: Final = "{by} may not write to this repository any more"


async def stand(desk: Desk, draft: Draft, action: Land) -> bool:
    """Whether all who let this work land may still do so.

    The approvals of those who may not are taken back, in the draft, and what they put
    into the merge queue is taken out of it.

    Raises:
        Unavailable: the forge did not answer.
    """
    convoy = draft.state.convoys[action.convoy]
    landing = [task for task in convoy.tasks if task.number in action.tasks]
    approved = await _approvals_stand(desk, draft, convoy, landing)
    put_back = [
        await _may_land(desk, draft, convoy, task.number, task.put_back_by, "maintain")
        for task in landing
        if task.put_back_by
    ]
    return approved and all(put_back)


async def answered_for(desk: Desk, draft: Draft, action: LandConvoy) -> bool:
    """Whether who lets the convoy land on its target may still do so.

    Raises:
        Unavailable: the forge did not answer.
    """
    convoy = draft.state.convoys[action.convoy]
    if by := convoy.put_back_by:
        return await _may_land(desk, draft, convoy, 0, by, "maintain")
    by = convoy.vouched_by or convoy.by
    return await _may_land(desk, draft, convoy, 0, by, "write")


async def _may_land(
    desk: Desk, draft: Draft, convoy: Convoy, task: int, by: str, right: Right
) -> bool:
    if not is_login(by) or await desk.github.may(by, right):
        return True
    leave = WithdrawMerge(convoy=convoy.name, task=task, by=desk.login)
    if draft.submit(leave) is None:
        sign = ids.sign_key("landing", f"{convoy.name}/{task}/{draft.now}")
        text = replies.unanswered_for(by)
        draft.submit(Answer(issue=_place(convoy, task), sign=sign, text=text))
    return False


def _place(convoy: Convoy, number: int) -> int:
    """Return the pull request, where people are told of it, else the issue."""
    task = convoy.task(number)
    return (task.pull if task else convoy.pull) or convoy.issue


async def _approvals_stand(
    desk: Desk, draft: Draft, convoy: Convoy, landing: list[Task]
) -> bool:
    gone = {
        by
        for by in {by for task in landing for by in task.approved_by}
        if not await desk.github.may_write(by)
    }
    for task in landing:
        for by in gone.intersection(task.approved_by):
            void = VoidApproval(
                convoy=convoy.name, task=task.number, by=by, why=WHY.format(by=by)
            )
            draft.submit(void)
    return not gone
