"""A second bot beside the one that acts: it says nothing until it holds the lease."""

from pathlib import Path

from bot.door.inbox import StartRequest
from bot.serving import bot_service
from tests.bot.another_folder import elsewhere
from tests.bot.lobby import lobby


async def test_a_bot_that_waits_denies_nobody(tmp_path: Path) -> None:
    async with lobby(tmp_path) as here:
        issue = await here.write("Do it", "- [ ] one")
        await here.loop.tick()  # and holds the lease from its first push on
        assert here.loop.lease.held
        settings = here.loop.context.settings
        other = elsewhere(settings, tmp_path / "other").model_copy(
            update={"sole": False}
        )
        told: list[str] = []
        async with bot_service.opened(other, told.append) as second:
            await here.you.relabel(issue, {"brat"}, set())
            asked = StartRequest(issue=issue, title="Do it", text="", by="mallory")
            second.context.inbox.put("delivery", asked)

            assert await second.tick()

        assert here.said() == []
        assert "brat" in here.labels(issue)
        assert any("another bot" in each for each in told)
