"""Approvals, looked at again when work lands on them: who approved may have left."""

from typing import Final

from bot.desk import Desk
from bot.repository.draft import Draft
from convoy.actions import Land
from convoy.commands import VoidApproval

WHY: Final = "{by} may not write to this repository any more"


async def stand(desk: Desk, draft: Draft, action: Land) -> bool:
    """Whether all who approved what is to land may still approve it.

    The approvals of those who may not are taken back, in the draft.

    Raises:
        Unavailable: the forge did not answer.
    """
    convoy = draft.state.convoys[action.convoy]
    landing = [task for task in convoy.tasks if task.number in action.tasks]
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
