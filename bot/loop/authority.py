"""Whether people still want what is about to be done: the forge is asked again."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.requests import obeyed_labels
from bot.roles import by_hand
from bot.roles.authorization import convoy_may_land, may_land, may_start
from convoy.owed import Align, AskMerge, Begin, Land, LandConvoy, LandPart, Staged


async def may_still(
    context: BotContext, draft: Draft, action: Staged, known: set[str]
) -> bool:
    """Whether the people who authorized an action still do, as the forge says now.

    Args:
        context: the bot's.
        draft: takes what they do not stand for any more.
        action: what is about to be done.
        known: the logins already found to have the right to let a task start.

    Raises:
        Unavailable: the forge did not answer.
    """
    match action:
        case Begin():
            return await may_start(context, draft, action, known)
        case Align():
            return await by_hand.is_wanted(context, draft, action.convoy)
        case Land():
            return await _is_wanted(
                context, draft, action.convoy, action.tasks
            ) and await may_land(context, draft, action)
        case LandConvoy() | LandPart() | AskMerge():
            return await _is_wanted(
                context, draft, action.convoy
            ) and await convoy_may_land(context, draft, action)
        case _:
            return True


async def _is_wanted(
    context: BotContext, draft: Draft, name: str, tasks: tuple[int, ...] = ()
) -> bool:
    """Look just before a landing whether a person says no, by hand or by a label."""
    if not await by_hand.is_wanted(context, draft, name):
        return False
    await obeyed_labels.observe(context, draft)
    convoy = draft.state.convoys[name]
    return not convoy.held and not any(
        task.held for task in convoy.tasks if task.number in tasks
    )
