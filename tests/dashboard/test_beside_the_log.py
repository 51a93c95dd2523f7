"""What waits for a person that no event says: shown as `brat status` shows it."""

import asyncio

from convoy.rules.people import BlockTask
from convoy.views.interventions import Intervention, unusable_config
from tests.dashboard.conftest import Opens
from tests.world.patience import patient
from tests.world.rules import NAME, Rules, sha, spec

DOWN = Intervention(
    kind="bot_down", why="the bot ended", commands=("brat daemon start",)
)
FAULT = f"{sha('f')}: chunk is cut off"


def blocked() -> Rules:
    rules = Rules().planned(spec(1), spec(2))
    return rules.do(BlockTask(convoy=NAME, task=1, why="no CI"))


async def test_all_kinds_are_on_the_pages_and_in_the_interface(opens: Opens) -> None:
    wrong = unusable_config("config.toml: refinery.strategy: unknown\nand another")
    async with opens(blocked(), here=lambda: (wrong, DOWN), faults=(FAULT,)) as visit:
        told = (await visit.http.get("/api/v1/status")).json()["interventions"]
        pages = [await visit.text("/"), await visit.text("/waits")]

    kinds = ["config_error", "bot_down", "log_damaged", "blocked_task"]
    assert [each["kind"] for each in told] == kinds
    assert told[0]["why"].endswith("refinery.strategy: unknown (and 1 more)")
    for page in pages:
        for each in told:
            assert each["why"] in page
            assert all(
                f"<code>{command}</code>" in page for command in each["commands"]
            )


async def test_what_begins_to_wait_is_told_to_who_watches(opens: Opens) -> None:
    found: list[Intervention] = []
    async with (
        opens(blocked(), here=lambda: tuple(found)) as visit,
        asyncio.timeout(patient(60)),
        visit.http.stream("GET", "/events") as events,
    ):
        before = await visit.text("/")
        found.append(DOWN)
        told = await anext(events.aiter_lines())
        after = await visit.text("/")

    assert told == "event: changed"
    assert (DOWN.why in before, DOWN.why in after) == (False, True)
