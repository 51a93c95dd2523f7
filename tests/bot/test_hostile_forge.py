"""A convoy on a forge that refuses, forgets and lags: nothing is lost or doubled."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from bot import wall_clock
from bot.forge.pace import Pace
from bot.loop.staging import owes
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository.registration import FORGE_FOLDER
from tests.whole.crash import LIST, World, losing_machines, seen, set_up
from tests.world.faults import BadDay, bad_day
from tests.world.hand import HandTime
from tests.world.layers import sampled
from tests.world.patience import patient
from tests.world.trusting_jobs import trusting_jobs

pytestmark = [pytest.mark.timeout(300), pytest.mark.layer("landing")]
DEADLINE_S = patient(240)
ROUND_MS = 2_000
"""What a round takes by the bot's clock."""
SETTLE_S = 1.5
"""More than the proxy's lag, which is the rest of a round."""


class Monotonous(BadDay):
    """A day on which the same thing goes wrong with every call, seldomer each time.

    Every second time would make a tick of n calls take up to 2 to the n tries.
    """

    def __init__(self, wrong: str) -> None:
        super().__init__()
        self.wrong = wrong
        self.calls: Counter[str] = Counter()

    def fault(self, method: str, path: str) -> str:
        """Let the first call of a kind go wrong, and then fewer and fewer."""
        if self.wrong == "500 after" and method == "GET":
            return ""
        if self.wrong == "stale":
            return "stale" if method == "GET" else ("500 after" * self.flip(path))
        return self.wrong if self.flip(f"{method} {path}") else ""

    def flip(self, call: str) -> bool:
        """Count a call; return whether it goes wrong.

        Two in a row of a lost answer are what a look that is stale has to be told from.
        """
        self.calls[call] += 1
        lead = 0 if self.wrong == "stale" else 1
        return (self.calls[call] + lead).bit_count() == 1


async def story(folder: Path, day: BadDay) -> tuple[World, set[str]]:
    """Play a convoy to its end; return what is there, and the issue's labels."""
    known = set_up(folder)
    hand = HandTime()
    with trusting_jobs(folder), Forge(folder / FORGE_FOLDER) as forge:
        async with serving(forge) as url, bad_day(url, day) as proxy:
            async with local_mode.person(url, known) as github:
                issue = await github.open_issue("Do it", LIST)
                await github.relabel(issue, {"brat"}, set())
            settings = local_mode.bot_settings(folder, known, proxy).model_copy(
                update={"settle_s": SETTLE_S, "artifact_grace_s": 5.0}
            )
            pace = Pace(time=hand.time)
            async with (
                asyncio.timeout(DEADLINE_S),
                losing_machines(folder),
                bot_service.opened(settings, lambda _: None, pace=pace) as loop,
                bot_service.door(loop, 0) as port,
            ):
                await local_mode.point_hook(url, known, port)
                begun = wall_clock()
                loop.context.clock = lambda: begun + day.round * ROUND_MS
                while await loop.tick() or owes(loop.context):
                    hand.passed += 20  # limits are waited for in no time
                    day.round += 1
                    await loop.wake.wait(0.2)
                await loop.release()
        store = forge.store
        (own,) = [each for each in store.issues.all() if each.number == issue]
        names = {each.name for each in store.labels.all() if each.id in own.labels}
        return seen(folder, forge, known), names


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, set[str]]:
    return asyncio.run(story(tmp_path_factory.mktemp("calm"), BadDay()))


def test_on_a_good_day_it_lands(calm: tuple[World, set[str]]) -> None:
    world, labels = calm

    assert (world.convoy, labels) == ("complete", {"brat:complete"})
    assert [state for state, _ in world.tasks] == ["merged"] * 3


@pytest.mark.parametrize(
    "fault",
    sampled([("stale",), ("500 after",)], {("stale",)}),
)
def test_each_kind_of_trouble_alone_changes_nothing(
    fault: str, tmp_path: Path, calm: tuple[World, set[str]]
) -> None:
    day = Monotonous(fault)

    world, labels = asyncio.run(story(tmp_path, day))

    assert (world, labels) == calm
    assert day.happened[fault] > 1
