"""What was asked for since the last look: by people in their ways, and by the clock."""

from bot.desk import Desk
from bot.door import labels, missed, signs
from bot.door.inbox import Remark
from bot.orders import ear
from bot.repository.draft import Draft
from bot.roles import mayor, scheduled
from bot.wake import ALL


async def listen(desk: Desk, draft: Draft, parts: frozenset[str]) -> list[str]:
    """Put all of it to the rules; return the deliveries that are dealt with.

    Safe to cut off anywhere and to call again: what was decided is in the draft, and is
    found decided once that is pushed.

    Args:
        desk: of the bot.
        draft: takes what it leads to.
        parts: what may have changed; with all of it also what no delivery told of.

    Raises:
        Unavailable: the forge did not answer.
    """
    sweep = parts >= ALL
    waiting = await mayor.requests(desk, sweep=sweep)
    for request in waiting.values():
        await mayor.accept(desk, draft, request)
    if sweep:
        await scheduled.listen(desk, draft)
        await missed.comments(desk, draft.state)
        await signs.missed(desk, draft.state)
    remarks = desk.inbox.remarks()
    for remark in remarks.values():
        await _hear(desk, draft, remark)
    asked = desk.inbox.signs()
    for delivery, sign in asked.items():
        await signs.attend(desk, draft, delivery, sign)
    begun = draft.state.convoys.keys() != desk.mirror.state.convoys.keys()
    if begun or "issues" in parts:
        await labels.observe(desk, draft)
    if sweep:
        await labels.correct(desk, draft.state)
    return [*waiting, *remarks, *asked]


async def _hear(desk: Desk, draft: Draft, remark: Remark) -> None:
    if remark.edited:
        missed.ask_again(draft, remark)
    else:
        await ear.attend(desk, draft, remark)
