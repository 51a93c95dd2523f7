"""Ten issues labelled at once become ten convoys, and share the slots."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.serving import bot_service
from brat.forge.service.run_processes import How
from tests.bot.hosted import at_home, settings
from tests.bot.room import SHELL
from tests.bot.serving.hosted_town import labelled
from tests.world.forge import REPO, Town

ISSUES = 10
LIST = "- [ ] one\n" * 5
CONFIG = f"""\
{SHELL}max_sessions = 100
[witness]
max_sessions = {{slots}}
"""
NOTHING = How(executor=("true",))
"""Sessions that never say anything: their slots stay taken."""
pytestmark = pytest.mark.timeout(180)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Town]:
    async with at_home(tmp_path, NOTHING) as served:
        yield served


@pytest.mark.parametrize("slots", [15, 50])
async def test_ten_issues_labelled_at_once_share_the_slots(
    here: Town, slots: int
) -> None:
    file = here.folder / "config.toml"
    file.write_text(CONFIG.format(slots=slots))
    roles = ("mayor", "witness")
    told = settings(here, token=here.tokens["bot"], config_file=file, roles=roles)
    async with asyncio.TaskGroup() as group:
        made = [
            group.create_task(labelled(here, REPO, f"Fix {number}", LIST))
            for number in range(ISSUES)
        ]
    issues = sorted(each.result() for each in made)
    async with bot_service.opened(told, lambda _: None) as loop:
        assert not await loop.tick(), loop.context.troubles
        state = loop.context.mirror.state

    assert sorted(convoy.issue for convoy in state.convoys.values()) == issues
    running = [convoy.name for convoy, _ in state.running()]
    each = sorted(running.count(name) for name in state.convoys)
    assert len(running) == slots
    assert each[-1] - each[0] <= 1
