"""What the loop looks at, and when."""

from pathlib import Path

from convoy.owed import Role
from tests.bot.room import room
from tests.world.forge import until

EVERYBODY: tuple[Role, ...] = ("mayor", "witness", "refinery", "deacon")
CONFIG = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "echo done > work.txt"]
"""


async def test_a_run_that_ends_before_its_id_is_noted_is_taken_in_at_once(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, CONFIG, text="- [ ] one\n") as here:
        loop, runs = here.loop, here.forge.store.runs
        told = {"roles": EVERYBODY, "push_gap_s": 1000.0}
        loop.context.settings = loop.context.settings.model_copy(update=told)

        async def all_ended() -> bool:
            return all(run.status == "completed" for run in runs.all())

        async def pause(_: float) -> None:
            await until(all_ended)
            if here.task(1).attempt is not None and not here.task(1).runs:
                loop.wake.up("runs")  # as the delivery `workflow_run completed` does

        loop.pacing.pause = pause
        await loop.tick()

        assert len(runs.all()) == 1
        assert here.task(1).attempt is None
        assert here.task(1).work is not None
