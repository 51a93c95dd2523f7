"""A name is given away: what a bot knows of one repository never reaches another.

The attack: the private acme/app is renamed, and a public acme/app is created. Nothing
that was known under the old name may arrive in the new repository.
"""

import asyncio
from pathlib import Path

import pytest

from bot.serving import bot_service
from brat.forge.storage.forge_state import Forge
from grite.errors import BratError
from grite.wal import WAL_REF
from tests.bot.serving.hosted_town import (
    accepted,
    alone,
    as_app,
    hosting,
    labelled,
    running,
    state_of,
)
from tests.world.forge import REPO, Town, make_source, until


def rename(forge: Forge, full_name: str, name: str) -> str:
    """Give a repository another name; its id and all that is in it stay.

    Returns:
        The new full name; the old one is free.
    """
    repo = forge.known(full_name)
    bare = forge.bare(repo)
    bare.close()
    path = bare.path.rename(bare.path.with_name(f"{name}.git"))
    bare.path = path
    return forge.update(repo, name=name).full_name


def create(forge: Forge, full_name: str, source: Path) -> int:
    """Create a public repository in which the bot may write; return its id."""
    made = forge.add_repository(full_name, source=source)
    forge.grant(full_name, "brat[bot]", "write")
    return made.id


pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]


def refs(here: Town, name: str) -> set[str]:
    bare = here.forge.bare(here.forge.known(name))
    return set(bare.git.references) - {"refs/heads/main"}


async def test_the_log_is_not_pushed_into_a_repository_that_took_the_name(
    here: Town, tmp_path: Path
) -> None:
    here.forge.update(here.forge.known(REPO), private=True)
    number = await labelled(here, REPO)
    async with running(hosting(here, repositories=(REPO,), sweep_s=0.2)) as host:
        await accepted(here, REPO, number)
        assert host.served[REPO].loop

        moved = rename(here.forge, REPO, "moved")
        create(here.forge, REPO, make_source(tmp_path / "public"))

        await until(lambda: "a different repository" in host.served[REPO].trouble)
    assert refs(here, REPO) == set()
    assert WAL_REF in refs(here, moved)


async def test_a_renamed_repository_keeps_its_log_and_its_folder(here: Town) -> None:
    told = as_app(here, allowed_owners=("alice",), sweep_s=0.2, roster_s=0.2)
    number = await labelled(here, REPO)
    async with running(told) as host:
        await accepted(here, REPO, number)
        before = host.served[REPO].settings

        moved = rename(here.forge, REPO, "moved")

        await until(lambda: state_of(host, moved).convoys)
        after = host.served[moved].settings
        assert [*host.served] == [moved]
    assert before
    assert after
    assert after.folder == before.folder


async def test_a_bot_of_its_own_refuses_the_folder_of_another_repository(
    here: Town, tmp_path: Path
) -> None:
    async with bot_service.opened(alone(here), lambda _: None) as loop:
        assert not await bot_service.tick(loop)
        rename(here.forge, REPO, "moved")
        create(here.forge, REPO, make_source(tmp_path / "public"))

        with pytest.raises(BratError, match="a different repository"):
            await asyncio.to_thread(loop.context.mirror.look)
        with pytest.raises(BratError, match="a different repository"):
            await bot_service.tick(loop)
    with pytest.raises(BratError, match="a different repository"):
        async with bot_service.opened(alone(here), lambda _: None):
            pass
    assert refs(here, REPO) == set()
