"""Attempts that all fail stop the whole repository, and its people are told once."""

from pathlib import Path

from convoy.rules.ending import RefuseWork
from tests.bot.room import NAME, room

BRITTLE = """\
[engine.default]
type = "shell"
args = ["true"]
[witness]
failures = 1
"""


async def test_what_only_fails_pauses_and_says_so(tmp_path: Path) -> None:
    async with room(tmp_path, BRITTLE, roles=("mayor",)) as here:
        await here.started(1)
        await here.do(
            RefuseWork(
                convoy=NAME, task=1, attempt=1, cause="failed", why="a wrong key"
            )
        )
        context = here.loop.context
        context.settings = context.settings.model_copy(
            update={"roles": ("mayor", "witness")}
        )
        await here.loop.tick()

        assert here.convoy_state() == "paused"
        assert not list(context.mirror.state.running())
        comment, told = here.spoken()
        assert "@you Every convoy of this repository pauses: too many" in told
        assert "**Why:** too many attempts in a row failed" in comment

        context.settings = context.settings.model_copy(update={"roles": ("mayor",)})
        await here.answer("/brat resume all")
        assert here.convoy_state() == "active"
        assert context.mirror.state.failures == 0
