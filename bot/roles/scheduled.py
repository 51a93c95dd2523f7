"""Convoys that the configuration asks for by the clock: an issue each, then as others.

The issue is the memory: its hidden marker names the schedule and the time, so that
another look, or another process, finds that it was opened.
"""

from datetime import UTC, datetime
from typing import Final

from bot.configuration import configuration
from bot.desk import Desk
from bot.door.inbox import Request
from bot.forge.retrying import failed_try, quiet_try
from bot.repository.draft import Draft
from bot.roles import mayor
from convoy import ids
from convoy.config import ConfigError
from convoy.config.tables import ScheduleTable
from convoy.schedule import Due, due
from convoy.state import State
from grite.errors import Unavailable

_MADE: Final = "<sub>Opened by the schedule `{name}` in `.brat/config.toml`.</sub>"


async def listen(desk: Desk, draft: Draft) -> None:
    """Start what is due. Safe to cut off anywhere and to call again.

    Raises:
        Unavailable: the forge did not answer.
    """
    try:
        config = configuration(desk)
    except (ConfigError, KeyError):
        return  # whoever asks for a convoy is told of the fault
    if config.staged:
        return  # to open the issue would be to write
    tables = config.schedule
    hours = {name: table.hours for name, table in tables.items()}
    for each in due(hours, desk.settings.repository, draft.now):
        table, key = tables[each.name], ids.schedule_key(each.name, each.begun)
        if key not in desk.shown and not _runs(draft.state, desk.login, table):
            await _start(desk, draft, each, table)
            desk.shown[key] = True


def _runs(state: State, login: str, table: ScheduleTable) -> bool:
    """Whether what the schedule asked for the last time has not ended."""
    return any(each.by == login and each.title == table.title for each in state.live())


async def _start(desk: Desk, draft: Draft, each: Due, table: ScheduleTable) -> None:
    number = await _opened(desk, each, table)
    if any(convoy.issue == number for convoy in draft.state.convoys.values()):
        return
    issue = await desk.github.issue(number)
    request = Request(
        issue=number,
        title=table.title,
        text=table.text,
        by=desk.login,
        trigger="schedule",
    )
    await mayor.start(desk, draft, request, issue)


async def _opened(desk: Desk, each: Due, table: ScheduleTable) -> int:
    """Return the number of the issue for this time, opening it if there is none."""
    key = ids.schedule_key(each.name, each.begun)
    now = quiet_try(desk, key)
    since = datetime.fromtimestamp(each.begun // 1000, UTC)
    found = await desk.github.issue_marked(key, desk.login, since)
    if found is not None:
        return found
    now.repeat()
    await desk.hold()
    said = table.text, _MADE.format(name=each.name), ids.marker(key)
    try:
        return await desk.github.open_issue(table.title, "\n\n".join(said))
    except Unavailable:
        failed_try(desk, key)
        raise
