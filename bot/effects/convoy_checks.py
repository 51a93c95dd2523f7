"""Shows on commits, as checks, what brat does with them. Each check takes two writes.

There is one on each accepted attempt's work, and one on the convoy's branch when it is
offered to its target. These checks judge nothing, and nothing waits for them.
"""

from bot.context.bot_context import BotContext
from bot.context.retries import failed_try, quiet_try
from bot.forge.checks import CheckView
from bot.forge.rest import Refused
from bot.requests.check_buttons import views
from convoy.model.state import Convoy
from grite.errors import Unavailable


def owed(context: BotContext, convoy: Convoy) -> list[CheckView]:
    """Return the checks that the forge does not show correctly yet."""
    page = f"{context.settings.git_url}/{context.settings.repository}"
    return [
        each
        for each in views(convoy, page)
        if context.memory.shown.get(each.key) != each
    ]


async def show(context: BotContext, convoy: Convoy) -> None:
    """Bring a convoy's checks up to date, each of them alone; idempotent.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge refuses one of them.
    """
    refusals = []
    for view in owed(context, convoy):
        try:
            await _show(context, view)
        except Refused as refused:
            refusals.append(refused)
        else:
            context.memory.shown[view.key] = view
    if refusals:
        raise refusals[0]


async def _show(context: BotContext, view: CheckView) -> None:
    now, runs = quiet_try(context, view.key), context.github.check_runs
    found = await runs.found(view)
    if found is None:
        now.repeat()
    try:
        await runs.show(view, found)
    except Unavailable:
        failed_try(context, view.key)
        raise
