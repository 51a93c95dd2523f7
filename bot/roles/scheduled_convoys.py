"""Opens an issue for each convoy that the configuration's schedule asks for.

The issue is the memory: its hidden marker names the schedule and the time, so that a
later look, or another process, finds that the issue was opened.
"""

from datetime import UTC, datetime
from typing import Final

from bot.context.bot_context import BotContext
from bot.context.configuration import configuration
from bot.context.retries import failed_try, quiet_try
from bot.door.inbox import StartRequest
from bot.repository.draft import Draft
from bot.roles import mayor
from convoy.config import ConfigError, Due, due
from convoy.config.keys import ScheduleTable
from convoy.model import ids
from convoy.model.state import State
from grite.errors import Unavailable

_MADE: Final = "<sub>Opened by the schedule `{name}` in `.brat/config.toml`.</sub>"


async def listen(context: BotContext, draft: Draft) -> None:
    """Start the convoys that are due. Safe to cut off anywhere and to call again.

    Raises:
        Unavailable: the forge did not answer.
    """
    try:
        config = configuration(context)
    except (ConfigError, KeyError):
        return  # whoever asks for a convoy is told of the fault
    if config.staged:
        return  # opening the issue would be a write
    tables = config.schedule
    hours = {name: table.hours for name, table in tables.items()}
    settings = context.settings
    window = settings.schedule_window_s * 1000
    for each in due(hours, settings.repository, draft.now, window):
        table, key = tables[each.name], ids.schedule_key(each.name, each.begun)
        if key not in context.memory.shown and not _runs(
            draft.state, context.login, table
        ):
            await _start(context, draft, each, table)
            context.memory.shown[key] = True


def _runs(state: State, login: str, table: ScheduleTable) -> bool:
    """Whether the schedule's last convoy is still running."""
    return any(each.by == login and each.title == table.title for each in state.live())


async def _start(
    context: BotContext, draft: Draft, each: Due, table: ScheduleTable
) -> None:
    number = await _opened(context, each, table)
    if any(of.issue == number for _, of in draft.state.convoys.summaries()):
        return
    issue = await context.github.issue(number)
    request = StartRequest(
        issue=number,
        title=table.title,
        text=table.text,
        by=context.login,
        trigger="schedule",
    )
    await mayor.start(context, draft, request, issue)


async def _opened(context: BotContext, each: Due, table: ScheduleTable) -> int:
    """Return the number of the issue for this time, opening it if there is none."""
    key = ids.schedule_key(each.name, each.begun)
    now = quiet_try(context, key)
    since = datetime.fromtimestamp(each.begun // 1000, UTC)
    found = await context.github.issue_marked(key, context.login, since)
    if found is not None:
        return found
    now.repeat()
    await context.hold()
    said = table.text, _MADE.format(name=each.name), ids.marker(key)
    try:
        return await context.github.open_issue(table.title, "\n\n".join(said))
    except Unavailable:
        failed_try(context, key)
        raise
