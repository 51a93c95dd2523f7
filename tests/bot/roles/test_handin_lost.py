"""An attempt whose runner died is lost, and what it is known to have used is not."""

from pathlib import Path

from bot.repository.draft import Draft
from bot.roles.handin import collect
from convoy.actions import Collect
from convoy.events import Usage
from tests.bot.parcels import zipped
from tests.bot.room import NAME, room

CONFIG = """\
[engine.default]
type = "shell"
args = ["true"]
"""


async def test_a_lost_attempt_is_counted_by_its_usage_file(tmp_path: Path) -> None:
    line = b'{"type":"usage","input_tokens":70}\n{"type":"cost","usd":0.5}\n{"ty'
    async with room(tmp_path, CONFIG) as here:
        await here.started(1, run=77)
        desk = here.loop.desk
        draft = Draft(desk.mirror, desk.actor, desk.clock())

        collect(desk, draft, Collect(NAME, 1, 77), zipped(("usage.jsonl", line)))

        task = draft.state.convoys[NAME].task(1)
        assert task is not None
        assert (task.state, task.cause) == ("queued", "lost")
        assert task.used == Usage(input_tokens=70, usd=0.5)
