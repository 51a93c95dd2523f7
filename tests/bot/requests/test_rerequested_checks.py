"""Pressing "Re-run" on a check of the bot's tries again what is blocked."""

from pathlib import Path

from bot.door.delivery_inbox import Rerun
from convoy.rules.stop_task import BlockTask
from tests.bot.room import NAME, REPO, Room, room
from tests.world.app_key import pair
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.github_forge.extension import github


async def rerun(here: Room, task: int, by: str = "you", delivery: str = "d") -> str:
    """Let a person press "Re-run", delivered twice; return what the bot says."""
    before = len(here.spoken())
    for _ in range(2):
        here.loop.context.inbox.put(delivery, Rerun(convoy=NAME, task=task, by=by))
        await here.loop.tick()
    return "\n".join(here.spoken()[before:])


async def test_re_run_on_the_forge_comes_by_the_apps_webhook(tmp_path: Path) -> None:
    async with room(tmp_path, delivered=True, extend=github) as here:
        (door,) = here.forge.store.hooks.all()
        new = NewApp(
            slug="brat",
            owner="you",
            public_key=pair()[1],
            permissions={"checks": "write"},
            events=("check_run",),
            hook=(door.url, door.secret),
        )
        Apps(here.forge).add(new)
        Apps(here.forge).install("brat", REPO)
        await here.worked(1, {"a.py": b"a\n"})
        await here.do(BlockTask(convoy=NAME, task=1, why="no CI"))
        checks = here.forge.store.check_runs

        def shown() -> bool:
            return any(one.external_id for one in checks.all())

        await here.until(shown)
        (check,) = (one for one in checks.all() if one.external_id)
        await here.asked("POST", f"check-runs/{check.id}/rerequest", None)
        await here.until(lambda: here.task(1).state == "queued")

        assert "@you" in here.spoken()[-1]
        assert "Task 1 is queued again" in here.spoken()[-1]


async def test_who_may_write_tries_again_what_is_blocked(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await here.do(BlockTask(convoy=NAME, task=1, why="no CI"))
        here.forge.add_user("mallory")

        said = await rerun(here, 1, by="mallory", delivery="first")
        assert said.count("`retry` takes write access") == 1
        assert here.task(1).state == "blocked"
        said = await rerun(here, 1, delivery="second")
        assert said.count("Task 1 is queued again") == 1
        assert here.task(1).state == "queued"
        assert "not blocked" in await rerun(here, 1, delivery="third")

        await here.do(BlockTask(convoy=NAME, task=2, why="no CI"))
        assert "Task 2 is queued again" in await rerun(here, 0, delivery="fourth")
