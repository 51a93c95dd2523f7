"""A forge on loopback with a repository, and the settings of a bot that serves it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.settings import bot_folder
from bot.settings.bot_settings import Settings
from brat.forge.service.run_processes import LIKE_GITHUB, How
from brat.forge.storage.forge_state import Forge
from tests.world.forge import REPO, Town, make_source, settle_in, town
from tests.world.given_secrets import given

SECRET = given("made-up-secret-of-the-webhook")


@asynccontextmanager
async def at_home(folder: Path, how: How = LIKE_GITHUB) -> AsyncIterator[Town]:
    with Forge(folder / "forge") as forge:
        tokens = settle_in(forge, make_source(folder / "source"))
        async with town(forge, tokens, folder, how=how) as served:
            yield served


def settings(here: Town, **given: object) -> Settings:
    """Return what a bot is told, without a way to show who it is unless `given`."""
    return Settings.model_validate(served(here) | {"repository": REPO, **given})


def served(here: Town) -> dict[str, object]:
    """Return what every bot is told of the forge."""
    return {
        "api_url": f"{here.url}/api/v3",
        "git_url": here.url,
        "secret": SECRET,
        "folder": here.folder / "bot",
        "push_gap_s": 0,
    }


def elsewhere(settings: Settings, folder: Path) -> Settings:
    """Return a bot's settings for another machine: another folder, the same log key."""
    key = settings.log_key_file or settings.folder / bot_folder.LOG_KEY_FILE
    return settings.model_copy(update={"folder": folder, "log_key_file": key})
