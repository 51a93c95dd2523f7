"""A whole bot on the local forge: with a token of its own, and as an App."""

import asyncio
from pathlib import Path

import pytest

from bot.forge.rest import Refused
from bot.serving import bot_service
from bot.settings.bot_settings import Settings
from brat.forge.service.run_processes import How
from grite.errors import BratError
from grite.signatures import SIGNERS_FILE, signer_line
from tests.bot.hosted import at_home, settings
from tests.bot.room import SHELL
from tests.bot.serving.hosted_town import alone, helper, labelled
from tests.world.forge import REPO, Town
from tests.world.forge_rules import pull_request, rule
from tests.world.github_forge.apps import Apps
from tests.world.log_keys import OTHER_KEY


def as_app(town: Town, key: str = "brat") -> Settings:
    return settings(town, **helper(town, key))


async def test_git_goes_on_with_a_new_token_and_a_lost_app_is_said_until_it_is_back(
    town: Town,
) -> None:
    told: list[str] = []
    async with bot_service.opened(as_app(town), told.append) as loop:
        github = loop.context.github
        await bot_service.until_done(loop)
        town.forge.drop_token(await github.rest.tokens.token())
        await github.described()  # finds out, and has a new one
        await bot_service.until_done(loop)
        assert told == []

        town.forge.drop_token(await github.rest.tokens.token())
        (one,) = Apps(town.forge).installations.all()
        Apps(town.forge).suspend(one)
        with pytest.raises(Refused, match="suspended"):
            await github.described()

        def back() -> None:
            Apps(town.forge).install("helper", REPO)
            loop.wake.all()

        await bot_service.until_done(loop, seen=back)

        assert loop.context.troubles == {}
    (said,) = told
    assert "This installation has been suspended; check whether" in said


async def test_a_bot_with_the_wrong_key_or_none_does_not_start(town: Town) -> None:
    missing = settings(town, app_id="1", private_key_file=town.folder / "no.pem")
    for told, why in (
        (as_app(town, key="another"), "matches its private key"),
        (missing, r"cannot read the App's private key: .*no\.pem"),
    ):
        with pytest.raises(BratError, match=why):
            async with bot_service.opened(told, print):
                pass


@pytest.mark.parametrize("guarded", [False, True])
async def test_the_file_counts_where_the_branch_is_guarded(
    here: Town, *, guarded: bool
) -> None:
    checkout = await here.clone("alice")
    await checkout.commit(SIGNERS_FILE, signer_line(OTHER_KEY.public, "another bot"))
    await checkout.git("push", "--quiet", "origin", "main")
    if guarded:
        await rule(here, pull_request(1))
    said: list[str] = []

    async with bot_service.opened(alone(here), said.append) as loop:
        for _ in range(2):
            assert not await bot_service.tick(loop)
        mirror = loop.context.mirror

        assert mirror.believes_branch == guarded
        keys = {signer.public for signer in mirror.authority.signers.signers}
        assert (OTHER_KEY.public in keys) == guarded
    (told,) = [each for each in said if each.startswith("allowed signers: ")]
    assert ("is not used" in told) != guarded


# --- ten issues labelled at once become ten convoys, and share the slots --------------


ISSUES = 10
LIST = "- [ ] one\n" * 5
CONFIG = f"""\
{SHELL}max_sessions = 100
[witness]
max_sessions = {{slots}}
"""
NOTHING = How(executor=("true",))
"""Sessions that never say anything: their slots stay taken."""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("slots", [15, 50])
async def test_ten_issues_labelled_at_once_share_the_slots(
    tmp_path: Path, slots: int
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(CONFIG.format(slots=slots))
    roles = ("mayor", "witness")
    async with at_home(tmp_path, NOTHING) as here:
        token = here.tokens["bot"]
        told = settings(here, token=token, config_file=file, roles=roles)
        async with asyncio.TaskGroup() as group:
            made = [
                group.create_task(labelled(here, REPO, f"Fix {number}", LIST))
                for number in range(ISSUES)
            ]
        issues = sorted(each.result() for each in made)
        async with bot_service.opened(told, lambda _: None) as loop:
            assert not await loop.tick(), loop.context.troubles
            state = loop.context.mirror.state

    assert sorted(convoy.issue for convoy in state.convoys.values()) == issues
    running = [convoy.name for convoy, _ in state.running()]
    each = sorted(running.count(name) for name in state.convoys)
    assert len(running) == slots
    assert each[-1] - each[0] <= 1
