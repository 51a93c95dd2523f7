"""A whole bot on the local forge: with a token of its own, and as an App."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.forge.app_auth import PERMISSIONS
from bot.forge.rest import Refused
from bot.serving import bot_service
from bot.settings.bot_settings import Settings, read_settings_as
from grite.errors import BratError
from grite.wal import WAL_REF
from tests.bot.hosted import at_home, settings
from tests.world.app_key import pair
from tests.world.forge import REPO, Town
from tests.world.github_forge.apps import Apps, NewApp


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Town]:
    async with at_home(tmp_path) as served:
        yield served


def as_app(here: Town, key: str = "brat") -> Settings:
    new = NewApp(
        slug="helper", owner="alice", public_key=pair()[1], permissions=PERMISSIONS
    )
    app = Apps(here.forge).add(new)
    Apps(here.forge).install("helper", REPO)
    file = here.folder / "app.pem"
    file.write_text(pair(key)[0])
    return settings(here, app_id=app.id, private_key_file=file)


def tokens_alive(here: Town) -> int:
    return sum(token.access is not None for token in here.forge.store.tokens.all())


async def test_a_bot_with_a_token_writes_the_log(here: Town) -> None:
    told: list[str] = []
    async with bot_service.opened(
        settings(here, token=here.tokens["bot"]), told.append
    ) as loop:
        await bot_service.until_done(loop)

        assert loop.context.login == "brat[bot]"
        assert WAL_REF in loop.context.mirror.refs
    assert told == []


async def test_a_bot_that_is_an_app_reads_and_writes_as_one(here: Town) -> None:
    told: list[str] = []
    async with bot_service.opened(as_app(here), told.append) as loop:
        await bot_service.until_done(loop)
        repo = here.forge.repository(REPO)
        assert repo is not None
        log = here.forge.bare(repo).ref(WAL_REF)
        number = await loop.context.github.open_issue("Fix it", "All of it.")

        assert loop.context.login == "helper[bot]"
        assert log == loop.context.mirror.refs[WAL_REF]
        issue = await here.get(f"issues/{number}")
        assert issue["user"]["login"] == "helper[bot]"
        assert tokens_alive(here) == 1
    assert told == []
    assert tokens_alive(here) == 0


async def test_git_goes_on_with_a_new_token(here: Town) -> None:
    told: list[str] = []
    async with bot_service.opened(as_app(here), told.append) as loop:
        await bot_service.until_done(loop)
        here.forge.drop_token(await loop.context.github.token())
        await loop.context.github.default_branch()  # finds out, and has a new one
        await bot_service.until_done(loop)

    assert told == []


async def test_a_bot_that_lost_its_app_says_so_and_comes_back(here: Town) -> None:
    told: list[str] = []
    async with bot_service.opened(as_app(here), told.append) as loop:
        await bot_service.until_done(loop)
        here.forge.drop_token(await loop.context.github.token())
        (one,) = Apps(here.forge).installations.all()
        Apps(here.forge).suspend(one)
        with pytest.raises(Refused, match="suspended"):
            await loop.context.github.default_branch()

        def back() -> None:
            Apps(here.forge).install("helper", REPO)
            loop.wake.all()

        await bot_service.until_done(loop, seen=back)

        assert loop.context.troubles == {}
    (said,) = told
    assert "This installation has been suspended; check whether" in said


async def test_a_bot_with_the_wrong_key_does_not_start(here: Town) -> None:
    with pytest.raises(Refused, match="matches its private key"):
        async with bot_service.opened(as_app(here, key="another"), print):
            pass


async def test_a_bot_whose_key_is_not_there_does_not_start(here: Town) -> None:
    missing = settings(here, app_id="1", private_key_file=here.folder / "no.pem")

    with pytest.raises(
        BratError, match=r"cannot read the App's private key: .*no\.pem"
    ):
        async with bot_service.opened(missing, print):
            pass


# --- its settings ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "set either token or both app_id and private_key_file"),
        ({"app_id": 1}, "app_id and private_key_file must be set together"),
        ({"private_key_file": "x"}, "app_id and private_key_file must be set together"),
        (
            {"token": "x", "app_id": 1, "private_key_file": "x"},
            "set either token or both app_id and private_key_file",
        ),
        (
            {"token": "x", "write_gap_s": -1},
            "write_gap_s: Input should be greater than or equal to 0",
        ),
    ],
)
def test_there_is_one_way_in(
    given: dict[str, object], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "bot.json"
    told = {
        "repository": REPO,
        "api_url": "https://x",
        "git_url": "https://x",
        "secret": "made-up-secret-of-the-webhook",
        "folder": "x",
        **given,
    }
    file.write_text(json.dumps(told))

    with pytest.raises(BratError) as error:
        read_settings_as(Settings, file)

    assert str(error.value) == f"{file}: {said}"
