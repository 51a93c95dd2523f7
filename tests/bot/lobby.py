"""A bot at a local forge whose webhooks reach it, and people who write issues.

`you` own the repository, mallory may only read it.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import httpx

from bot.door.webhooks import WEBHOOK_PATH
from bot.forge.github import WORKFLOW, GitHub
from bot.loop.loop import Loop
from bot.roles.bot_context import BotContext
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Ci
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER, Registration, Source
from convoy.model.state import Convoy, State
from convoy.owed import Role
from grite import git
from tests.bot.door_client import headers_of
from tests.world.forge import AUTHOR, make_source, until
from tests.world.github_forge.extension import github
from tests.world.patience import patient
from tests.world.trusting_jobs import trusting_jobs

CONFIG = """\
[engine.default]
type = "shell"
args = ["true"]
"""


@dataclass
class Clock:
    """The forge's time, which passes only when a test says so."""

    now: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Person(GitHub):
    async def rewrite(self, number: int, **changed: str) -> None:
        await self._rest.write("PATCH", f"{self._repo}/issues/{number}", changed)


@dataclass
class BotHere:
    loop: Loop
    forge: Forge

    @property
    def context(self) -> BotContext:
        return self.loop.context

    @property
    def state(self) -> State:
        return self.context.mirror.state

    @property
    def bare(self) -> Path:
        """Where the forge keeps the repository."""
        return self.forge.bare(self.forge.known(self.context.settings.repository)).path

    def configure(self, **changes: object) -> None:
        self.context.settings = self.context.settings.model_copy(update=changes)

    async def swept(self, times: int = 1) -> None:
        """Let the bot look at everything, as it does from time to time."""
        for _ in range(times):
            self.loop.wake.all()
            await self.loop.tick()

    def spoken(self) -> list[str]:
        """Return every comment there is, oldest first."""
        return [each.body for each in self.forge.store.comments.all()]

    def labels(self, number: int) -> set[str]:
        store = self.forge.store
        issue = next(each for each in store.issues.all() if each.number == number)
        return {label.name for label in store.labels.all() if label.id in issue.labels}


@dataclass
class Lobby(BotHere):
    people: dict[str, Person]
    clock: Clock
    knock: Callable[[str, object], Awaitable[None]]
    """Delivers an event with this payload, signed."""

    @property
    def you(self) -> Person:
        return self.people["you"]

    async def write(self, title: str, text: str, by: str = "you") -> int:
        return await self.people[by].open_issue(title, text)

    async def delivered(self, count: int = 1) -> None:
        """Wait until so much has come in that asks for something."""
        inbox = self.context.inbox

        await until(lambda: len(inbox.requests()) + len(inbox.remarks()) >= count)

    async def labelled(self, issue: int) -> None:
        await self.you.relabel(issue, {"brat"}, set())
        await self.delivered()
        await self.loop.tick()

    def convoys(self) -> list[Convoy]:
        return list(self.state.convoys.values())


def registered(folder: Path, files: Mapping[str, str]) -> Registration:
    """Register a project with these files, by their path from `.brat`; empty: none."""
    source = make_source(folder / "source")
    for name, content in files.items():
        if content:
            file = source / ".brat" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
    if any(files.values()):
        git.run(["add", "."], cwd=source)
        git.run(["commit", "-q", "-m", "Configure"], cwd=source, env=AUTHOR)
    told = Source(path=source, branch="main", name="app", person="you")
    known = registrations.register(folder, told)
    registrations.set_ci(folder, known, Ci())
    return known


@asynccontextmanager
async def lobby(
    folder: Path,
    *,
    config: str = CONFIG,
    files: Mapping[str, str] = {},
    roles: tuple[Role, ...] = ("mayor",),
    sole: bool = True,
    ci_workflow: str | None = None,
    workflow: str = WORKFLOW,
) -> AsyncIterator[Lobby]:
    known = registered(folder, {"config.toml": config, **files})
    clock = Clock()
    with trusting_jobs(folder), Forge(folder / FORGE_FOLDER, clock=clock) as forge:
        forge.add_user("mallory")
        tokens = {"you": known.person_token, "mallory": forge.add_token("mallory")}
        async with (
            serving(forge, extend=github) as url,
            httpx.AsyncClient(trust_env=False, timeout=patient(30)) as client,
        ):
            people = {
                login: Person(
                    client,
                    api_url=f"{url}/api/v3",
                    repository=known.repository,
                    token=token,
                )
                for login, token in tokens.items()
            }
            settings = local_mode.bot_settings(folder, known, url, roles)
            told = {"sole": sole, "ci_workflow": ci_workflow, "workflow": workflow}
            settings = settings.model_copy(update=told)
            async with (
                bot_service.opened(settings, lambda _: None) as loop,
                bot_service.door(loop, 0) as port,
            ):
                await local_mode.point_hook(url, known, port)

                async def knock(event: str, payload: object) -> None:
                    body = json.dumps(payload).encode()
                    headers = headers_of(body, event, known.secret, str(uuid4()))
                    door = f"http://127.0.0.1:{port}{WEBHOOK_PATH}"
                    answer = await client.post(door, content=body, headers=headers)
                    assert answer.status_code == 202, answer.text

                yield Lobby(loop, forge, people, clock, knock)
