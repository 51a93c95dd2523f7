"""A hosted bot with its dashboard: a public repository with a convoy, a private one.

alice may write in both, carol may read both, mallory may read the public one.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.serving.host import hosted
from bot.serving.hosted_dashboard import opened_dashboard
from bot.settings.bot_settings import ServiceSettings
from brat.forge.storage.forge_state import Forge
from tests.world.app_key import pair
from tests.world.forge import REPO, Town, make_source, settle_in, town, until
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.given_secrets import given
from tests.world.tls import Behind, tls_before

PRIVATE = "alice/lib"
API_TOKEN = given("made-up-token-of-a-program")
CLIENT_SECRET = given("made-up-client-secret")
NAME = "fix-it-1"


@dataclass(frozen=True)
class Site:
    port: int
    """Of the dashboard, without TLS."""
    town: Town
    folder: Path
    """The bot's own."""


@asynccontextmanager
async def site(folder: Path, own_url: str) -> AsyncIterator[Site]:
    """Serve both, and wait until the convoy is there.

    Args:
        folder: where all of it lies.
        own_url: where people reach the dashboard.
    """
    with Forge(folder / "forge") as forge:
        source = make_source(folder / "source")
        tokens = settle_in(forge, source)
        forge.add_repository(PRIVATE, source=source, private=True)
        forge.grant(PRIVATE, "brat[bot]", "write")
        forge.grant(PRIVATE, "carol", "read")
        app = NewApp(
            slug="helper",
            owner="alice",
            public_key=pair()[1],
            permissions={},
            client_secret=CLIENT_SECRET,
            callbacks=(f"{own_url}/login/done",),
        )
        client_id = Apps(forge).add(app).client_id
        async with town(forge, tokens, folder) as here:
            told = ServiceSettings.model_validate(
                {
                    "api_url": f"{here.url}/api/v3",
                    "git_url": here.url,
                    "token": tokens["bot"],
                    "repositories": (REPO, PRIVATE),
                    "folder": folder / "bot",
                    "push_gap_s": 0,
                    "sweep_s": 0.5,
                    "dashboard_port": 0,
                    "dashboard_url": own_url,
                    "client_id": client_id,
                    "client_secret": CLIENT_SECRET,
                    "api_token": API_TOKEN,
                }
            )
            lines: list[str] = []
            async with (
                hosted(told, lines.append, poll=True) as host,
                opened_dashboard(host) as at,
            ):
                body = {"title": "Fix it", "body": "Please."}
                await here.ask("POST", "issues", body, by="alice")
                label = {"labels": ["brat"]}
                await here.ask("POST", "issues/1/labels", label, by="alice")

                async def accepted() -> bool:
                    loops = [one.loop for one in host.served.values()]
                    states = [each.context.mirror.state for each in loops if each]
                    return len(states) == 2 and any(s.convoys for s in states)

                await until(accepted)
                yield Site(at, here, told.folder)


@asynccontextmanager
async def site_with_tls(folder: Path) -> AsyncIterator[tuple[Site, str, Path]]:
    """Serve both behind TLS; give its address, too, and the authority to trust."""
    dashboard = Behind()
    async with tls_before(dashboard, folder) as (secure, authority):
        url = f"https://localhost:{secure}"
        async with site(folder, url) as here:
            dashboard.port = here.port
            yield here, url, authority
