"""A service for two repositories of the local forge, and what people do there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from bot.forge.app_auth import PERMISSIONS
from bot.serving.host import Host, hosted
from bot.settings.bot_settings import ServiceSettings, Settings
from convoy.model.state import State
from tests.bot.hosted import served, settings
from tests.world.app_key import pair
from tests.world.forge import REPO, Town, until
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.patience import patient

OTHER = "alice/lib"


def hosting(here: Town, **given: object) -> ServiceSettings:
    told = served(here) | {"port": 0, **given}
    if "app_id" not in told:
        told |= {"token": here.tokens["bot"]}
        told.setdefault("repositories", (REPO, OTHER))
    return ServiceSettings.model_validate(told)


def helper(here: Town, key: str = "brat", **more: Any) -> dict[str, Any]:  # noqa: ANN401  an App's
    """Install an App on the repository; return the settings that show who it is."""
    told = {"permissions": PERMISSIONS, **more}
    new = NewApp(slug="helper", owner="alice", public_key=pair()[1], **told)
    app = Apps(here.forge).add(new)
    Apps(here.forge).install("helper", REPO)
    file = here.folder / "app.pem"
    file.write_text(pair(key)[0])
    return {"app_id": app.id, "private_key_file": file}


def as_app(here: Town, **given: object) -> ServiceSettings:
    return hosting(here, **helper(here), **given)


@asynccontextmanager
async def running(told: ServiceSettings, *, poll: bool = False) -> AsyncIterator[Host]:
    async with hosted(told, lambda _: None, poll=poll) as host:
        yield host


async def labelled(
    here: Town, repo: str, title: str = "Fix it", text: str = "Please."
) -> int:
    body = {"title": title, "body": text}
    made = await here.ask("POST", "issues", body, by="alice", repo=repo)
    number = int(made.json()["number"])
    label = {"labels": ["brat"]}
    await here.ask("POST", f"issues/{number}/labels", label, by="alice", repo=repo)
    return number


async def accepted(here: Town, repo: str, number: int) -> None:
    async def shown() -> bool:
        issue = (await here.ask("GET", f"issues/{number}", repo=repo)).json()
        return "brat:active" in {label["name"] for label in issue["labels"]}

    await until(shown)


def state_of(host: Host, repo: str) -> State:
    """Return what a repository's log says; as long as it is not served, nothing."""
    one = host.served.get(repo)
    return one.loop.context.mirror.state if one and one.loop else State()


async def ready(host: Host) -> dict[str, Any]:
    async with httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client:
        answer = await client.get(f"http://127.0.0.1:{host.port}/readyz")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def alone(here: Town) -> Settings:
    folder = here.folder / "alone"
    return settings(here, token=here.tokens["bot"], folder=folder, settle_s=0)
