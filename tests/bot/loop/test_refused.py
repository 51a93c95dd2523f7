"""What a forge refuses keeps nothing else waiting, and is done when it may be."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from bot.door.inbox import StartRequest
from bot.forge.rest import Refused
from bot.loop.loop import Loop
from bot.roles.bot_context import RETRY_S, Troubles
from bot.serving import bot_service
from convoy.model.ids import SetAside
from convoy.model.state import State
from tests.bot.hosted import at_home, settings
from tests.bot.serving.hosted_town import labelled
from tests.world.faults import BadDay, bad_day
from tests.world.forge import REPO, Town
from tests.world.forge_rules import put_hook
from tests.world.layers import sampled

pytestmark = [pytest.mark.usefixtures("_keyed"), pytest.mark.layer("landing")]
PASSED_S = 150
STEP_S = 5
DAY_MS = 86_400_000
TRIES = 2
"""At once, and a minute later; the next one comes two minutes after that."""
LIFTED_S = 240
"""After this long everything was tried again."""


class Refusing(BadDay):
    """A day on which some writes are refused, always with the same status."""

    def __init__(self, status: int, write: str) -> None:
        super().__init__()
        self.status, self.write = status, write
        self.tries: Counter[str] = Counter()

    def fault(self, method: str, path: str) -> str:
        if method == "GET" or not path.endswith(self.write):
            return ""
        self.tries[path] += 1
        return str(self.status or "")


@pytest.fixture
def _keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAT_SECRET_ANTHROPIC_API_KEY", "made-up")


@asynccontextmanager
async def served(folder: Path, day: Refusing) -> AsyncIterator[tuple[Town, Loop]]:
    async with at_home(folder) as here, bad_day(here.url, day) as proxy:
        await labelled(here, REPO)
        told = settings(here, token=here.tokens["bot"], roles=("mayor",))
        told = told.model_copy(update={"api_url": f"{proxy}/api/v3"})
        async with bot_service.opened(told, lambda _: None) as loop:
            yield here, loop


async def seconds(loop: Loop, number: int, *, step: int = STEP_S) -> None:
    """Let so many seconds pass by a clock that it is given, with a tick each `step`."""
    for _ in range(0, number, step):
        loop.context.clock = partial(int, loop.context.clock() + step * 1000)
        await loop.tick()


def waiting(loop: Loop) -> dict[str, str]:
    found = loop.context.mirror.state.asides()
    return {item: aside.why for item, aside in found}


@pytest.mark.parametrize("status", sampled([(403,), (404,), (410,), (422,)], [(422,)]))
async def test_a_write_that_is_refused_waits_longer_each_time(
    status: int, tmp_path: Path
) -> None:
    day = Refusing(status, "/issues/1/comments")
    async with served(tmp_path, day) as (here, loop):
        await labelled(here, REPO, "Fix that, too")
        await seconds(loop, PASSED_S)

        assert len(await here.get("issues/2/comments")) == 1, "it goes on beside it"
        assert await here.get("issues/1/comments") == []
        assert set(day.tries.values()) == {TRIES}
        (why,) = waiting(loop).values()
        assert why.startswith("the forge refused a comment on issue 1: ")
        assert not await loop.tick(), "nothing is to be tried again soon"

        day.status = 0
        await seconds(loop, LIFTED_S)
        assert len(await here.get("issues/1/comments")) == 1
        assert waiting(loop) == {}


def test_what_is_refused_stays_aside_though_another_step_of_it_works() -> None:
    item, aside = "run/1", SetAside(why="not now", at=0, again=True)
    state = State(set_aside={"run/1": aside})
    troubles = Troubles()

    troubles.failed(item, Refused("pull", 403, "not now"), answers=1, now=1)
    troubles.worked(item, state)

    assert troubles.keep_back(item)


def hooked(folder: Path, name: str, script: str) -> Path:
    """Write a hook of the server's into its only repository."""
    (bare,) = (folder / "forge").glob("repos/*/*.git")
    return put_hook(bare, name, script)


async def test_where_no_ref_is_named_halves_are_tried(tmp_path: Path) -> None:
    pushes = tmp_path / "pushes"
    async with served(tmp_path, Refusing(0, "/nothing")) as (here, loop):
        refuses = f"echo >>{pushes}; ! grep -q fix-it-1/base"
        hook = hooked(tmp_path, "pre-receive", refuses)
        for _ in range(3):
            await labelled(here, REPO, "Fix that, too")

        await seconds(loop, 10)
        assert set(waiting(loop)) == {"convoy/fix-it-1"}
        bases = [ref for ref in loop.context.mirror.refs if ref.endswith("/base")]
        assert len(bases) == 3
        hook.unlink()
        await seconds(loop, LIFTED_S)
        assert waiting(loop) == {}


async def test_a_log_that_is_refused_is_tried_once_a_minute(tmp_path: Path) -> None:
    pushes = tmp_path / "pushes"
    async with served(tmp_path, Refusing(0, "/nothing")) as (here, loop):
        asked = StartRequest(issue=1, title="Fix it", text="Fix it", by="alice")
        loop.context.inbox.put("a-delivery", asked)
        noon = loop.context.clock() // DAY_MS * DAY_MS + DAY_MS // 2
        loop.context.clock = lambda: noon  # it is told once a day
        hook = hooked(
            tmp_path, "pre-receive", f"echo no pushes; echo >>{pushes}; false"
        )

        await seconds(loop, PASSED_S)

        assert len(pushes.read_text().splitlines()) <= 2 * 3
        assert "no pushes" in loop.context.troubles["tick"]
        loop.context.memory.shown.clear()  # as another process would begin
        await seconds(loop, PASSED_S)
        (said,) = await here.get("issues/1/comments")
        assert "no pushes" in said["body"]
        assert loop.retry_s > RETRY_S
        assert loop.context.mirror.state.convoys == {}

        hook.unlink()
        await seconds(loop, LIFTED_S)
        assert loop.context.troubles == {}
        (convoy,) = loop.context.mirror.state.convoys.values()
        assert convoy.state == "active"
