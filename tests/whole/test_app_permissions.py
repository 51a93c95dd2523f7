"""A convoy in a private repository, by an App with what the manifest asks for."""

from pathlib import Path

import pytest

from bot.serving.github_app import AppRequest
from brat.forge.http_server import serving
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository.registration import FORGE_FOLDER
from tests.whole.crash import LIST, bot, losing_machines, seen, set_up
from tests.whole.protected_story import SLUG, installed
from tests.world.adopted import asked_for
from tests.world.app_key import pair
from tests.world.github_forge import profiles
from tests.world.github_forge.extension import github
from tests.world.traffic import Exchange, observed
from tests.world.trusting_jobs import trusting_jobs

pytestmark = pytest.mark.timeout(300)
DETAILS = '"return_run_details" is not a permitted key'
"""What an Enterprise Server says; the bot asks anew without it."""


SERVERS = (name for name in profiles.names() if name.startswith("ghes-"))


@pytest.mark.parametrize("name", ["github.com", min(SERVERS)])
async def test_the_manifests_permissions_are_enough_for_a_convoy(
    tmp_path: Path, name: str
) -> None:
    known = set_up(tmp_path)
    profiles.choose(tmp_path / FORGE_FOLDER, name)
    wish = AppRequest(folder=tmp_path, name=SLUG, public_url="https://brat.example.com")
    told = wish.manifest("http://127.0.0.1:1/made")["default_permissions"]
    assert isinstance(told, dict)
    key = tmp_path / "app.pem"
    key.write_text(pair()[0])
    refused: list[str] = []
    asked_anew: list[bool] = []

    def watch(one: Exchange) -> None:
        # The first token is asked for with the right to change workflow files, too.
        is_token = one.path.endswith("/access_tokens")
        if one.status in {401, 403, 404, 422} and not is_token:
            refused.append(f"{one.method} {one.path}: {one.status} {one.response}")
            asked_anew.append(DETAILS in str(one.response))

    with trusting_jobs(tmp_path), Forge(tmp_path / FORGE_FOLDER) as forge:
        forge.update(forge.known(known.repository), private=True)
        app = installed(forge, known.repository, told)
        async with (
            serving(forge, extend=observed(watch, github)) as url,
            losing_machines(tmp_path),
        ):
            settings = local_mode.bot_settings(tmp_path, known, url).model_copy(
                update={"token": "", "app_id": str(app), "private_key_file": key}
            )
            await asked_for(url, known, "Do it", LIST)
            await bot(settings, known, url)
        world = seen(tmp_path, forge, known)

    assert all(asked_anew), refused
    assert any(asked_anew) == name.startswith("ghes-")
    assert world.convoy == "complete"
    assert world.issue_closed
    assert world.merged_pulls == world.pulls
