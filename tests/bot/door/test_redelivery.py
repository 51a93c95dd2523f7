"""What the forge could not hand over is asked for again, a few times at most."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from bot.door.redelivery import TRIES, Sent, ask_again, missed
from bot.serving.github_app import Installations, read_app_key
from brat.forge import Forge
from tests.world.app_key import pair
from tests.world.forge import REPO, Town, make_source, settle_in, town, until
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.patience import patient
from tests.world.receiver import Receiver, receiving

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Town]:
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, make_source(tmp_path / "source"))
        async with town(forge, tokens, tmp_path) as served:
            yield served


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


@pytest.fixture
async def roster(here: Town, receiver: Receiver) -> AsyncIterator[Installations]:
    new = NewApp(
        slug="helper",
        owner="alice",
        public_key=pair()[1],
        permissions={"issues": "write", "metadata": "read"},
        events=("issues",),
        hook=(receiver.url, "made-up-secret"),
    )
    app = Apps(here.forge).add(new)
    Apps(here.forge).install("helper", REPO)
    file = here.folder / "app.pem"
    file.write_text(pair()[0])
    async with httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client:
        yield Installations(
            client, f"{here.url}/api/v3", read_app_key(str(app.id), file)
        )


async def tried(here: Town, times: int) -> None:
    """Wait until so many tries have ended."""

    async def ended() -> bool:
        known = here.forge.store.deliveries.all()
        return sum(not one.pending for one in known) >= times

    await until(ended)


async def test_what_failed_comes_again_under_the_same_id(
    here: Town, receiver: Receiver, roster: Installations
) -> None:
    receiver.status = 503
    await here.issue()
    await tried(here, 1)

    receiver.status = 202
    assert await ask_again(roster.app, datetime.now(UTC)) == 1
    await tried(here, 2)

    first, second = receiver.came
    assert first.body == second.body
    assert first.headers["X-GitHub-Delivery"] == second.headers["X-GitHub-Delivery"]
    assert await ask_again(roster.app, datetime.now(UTC)) == 0


async def test_what_always_fails_is_given_up(
    here: Town, receiver: Receiver, roster: Installations
) -> None:
    receiver.status = 500
    await here.issue()
    for number in range(1, TRIES):
        await tried(here, number)
        assert await ask_again(roster.app, datetime.now(UTC)) == 1
    await tried(here, TRIES)

    assert await ask_again(roster.app, datetime.now(UTC)) == 0
    assert len(receiver.came) == TRIES


async def test_what_github_has_forgotten_is_not_asked_for(
    here: Town, receiver: Receiver, roster: Installations
) -> None:
    receiver.status = 500
    await here.issue()
    await tried(here, 1)

    later = datetime.now(UTC) + timedelta(days=4)
    assert await ask_again(roster.app, later) == 0


def sent(number: int, guid: str, status: int, event: str = "issues") -> Sent:
    return Sent(id=number, guid=guid, delivered_at=NOW, status_code=status, event=event)


def test_only_what_never_arrived_and_matters_is_missed() -> None:
    listed = [
        sent(6, "late", 500),
        sent(5, "healed", 200),
        sent(4, "healed", 0),
        sent(3, "star", 500, "star"),
        sent(2, "late", 401),
        sent(1, "early", 0),
    ]

    assert [one.id for one in missed(listed)] == [1, 6]
