"""Who answers for what starts is asked of the forge again when it starts.

That is who asked for the convoy, or who approved its plan or resumed it since. It may
be hours later, and they may have left: then the convoy waits for somebody else.
"""

import re
from typing import Final

from bot.desk import Desk
from bot.orders import replies
from bot.repository.draft import Draft
from convoy import ids
from convoy.actions import Begin
from convoy.commands import Answer, PauseConvoy

_LOGIN: Final = re.compile(r"[A-Za-z0-9-]+(\[bot\])?")
"""What is none says that whoever runs the bot has said so: they need no right."""


async def vouched(desk: Desk, draft: Draft, action: Begin, known: set[str]) -> bool:
    """Whether somebody who may write answers for this start; else pause the convoy.

    Args:
        desk: of the bot.
        draft: takes the pause, and what is said about it.
        action: the start.
        known: who was found to be in the right; asked about once.

    Raises:
        Unavailable: the forge did not answer.
    """
    convoy = draft.state.convoys[action.convoy]
    by = convoy.vouched_by or convoy.by
    if by in known or not is_login(by):
        return True
    if await desk.github.may_write(by):
        known.add(by)
        return True
    why = f"{by} may not write to this repository any more"
    pause = PauseConvoy(convoy=convoy.name, by=desk.login, why=why)
    if draft.submit(pause) is None:
        sign = ids.sign_key("vouch", f"{convoy.name}/{draft.now}")
        text = replies.unvouched(by)
        draft.submit(Answer(issue=convoy.issue, sign=sign, text=text))
    return False


def is_login(by: str) -> bool:
    """Whether that is a person's name on the forge, and no word of who runs the bot."""
    return _LOGIN.fullmatch(by) is not None
