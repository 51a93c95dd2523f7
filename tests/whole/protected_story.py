"""A small convoy for a protected branch, with an App's bot on a forge like GitHub.

Forge, git, runners and CI are the real ones.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from bot.forge.app_auth import PERMISSIONS
from bot.serving import bot_service
from bot.serving.github_app import EVENTS
from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Pull
from brat.forge.rest.rest_call import Extension
from brat.forge.service.announcements import Kind
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.git_storage import Bare
from brat.local import local_mode
from brat.repository.log_reader import Reader
from brat.repository.registration import FORGE_FOLDER, Registration
from convoy.model.state import State
from tests.forge.mutations import mutate
from tests.whole.crash import set_up
from tests.world.adopted import asked_for, calling
from tests.world.app_key import pair
from tests.world.forge import Json, Town, until
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.github_forge.extension import github
from tests.world.github_forge.shapes import node_id
from tests.world.patience import patient
from tests.world.program import ran
from tests.world.protection_profiles import ProtectionProfile
from tests.world.trusting_jobs import trusting_jobs

CONFIG = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "test $BRAT_TASK = 1 && echo done > done.txt || echo > mended.txt"]
"""
PASSES_BY = "[refinery]\nbypass = true\n"
SLUG = "helper"
STORY_S = patient(120)


def installed(forge: Forge, repository: str) -> int:
    """Install an App that may do what its manifest asks for; return its id."""
    new = NewApp(
        slug=SLUG,
        owner=repository.partition("/")[0],
        public_key=pair()[1],
        permissions=PERMISSIONS,
        events=EVENTS,
    )
    app = Apps(forge).add(new)
    Apps(forge).install(SLUG, repository)
    return app.id


@dataclass
class Protected:
    """A repository with rules, its forge, and what was said before anything landed."""

    known: Registration
    forge: Forge
    at_start: "AtStart | None"
    """What happens when the first session is asked for."""
    url: str = ""
    said_first: list[str] = field(default_factory=list)
    """The comments as they were when the first session had ended."""

    def extension(self, service: Service) -> Extension:
        """Be GitHub, and look on when the first session is asked for, and has ended."""
        heard: set[Kind] = set()

        def hear(_: object, __: object, kind: Kind, ___: object) -> None:
            if kind in heard:
                return
            heard.add(kind)
            if kind == ("workflow_run", "completed"):
                self.said_first = self.comments()
            if kind == ("workflow_run", "requested") and self.at_start is not None:
                self.at_start(self, service)

        service.events.heard_by.append(hear)
        return github(service)

    def says(self, part: str) -> bool:
        return any(part in one for one in self.comments())

    @property
    def bare(self) -> Bare:
        return self.forge.bare(self.forge.known(self.known.repository))

    def comments(self) -> list[str]:
        return [one.body for one in self.forge.store.comments.all()]

    def state(self) -> State:
        return Reader(self.bare.path).read()

    def pull(self) -> Pull:
        (found,) = (one for one in self.forge.store.pulls.all() if one.base == "main")
        return found

    def is_over(self) -> bool:
        """Whether the convoy is complete, and the forge shows it as merged."""
        states = [one.state for one in self.state().convoys.values()]
        return states == ["complete"] and self.pull().merged_at is not None

    async def person(self, method: str, path: str, body: Json) -> int:
        """Ask the forge as the repository's owner; return the status."""
        async with calling(self.url, self.known) as client:
            return (await client.request(method, path, json=body)).status_code

    async def dequeue(self) -> None:
        """Take the pull request out of the queue, which REST has no way to do."""
        tokens = {"alice": self.known.person_token}
        given = {"id": node_id("PullRequest", self.pull().id)}
        async with calling(self.url, self.known) as client:
            here = Town(self.forge, self.url, tokens, client, self.forge.folder)
            await mutate(here, "dequeuePullRequest", given)

    async def shows(self, look: Callable[[], bool]) -> None:
        await until(look, deadline_s=STORY_S)


AtStart = Callable[[Protected, Service], None]


@contextlib.asynccontextmanager
async def protected(
    folder: Path,
    profile: ProtectionProfile,
    at_start: AtStart | None = None,
    *,
    private: bool = False,
) -> AsyncIterator[tuple[Protected, str]]:
    """Serve a repository with a convoy and its bot; give what the doctor says, too."""
    known = set_up(folder, CONFIG + PASSES_BY * profile.passes_by)
    key = folder / "app.pem"
    key.write_text(pair()[0])
    with trusting_jobs(folder), Forge(folder / FORGE_FOLDER) as forge:
        forge.update(forge.known(known.repository), private=private)
        app = installed(forge, known.repository)
        profile.put(forge, known.repository, app)
        here = Protected(known, forge, at_start)
        async with serving(forge, extend=here.extension) as here.url:
            settings = local_mode.bot_settings(folder, known, here.url).model_copy(
                update={"token": "", "app_id": str(app), "private_key_file": key}
            )
            bot_json = folder / "bot.json"
            served = {
                "api_url": settings.api_url,
                "git_url": settings.git_url,
                "app_id": str(app),
                "private_key_file": str(key),
                "app": SLUG,
                "allowed_owners": [known.repository.partition("/")[0]],
                "folder": str(folder / "hosted"),
            }
            bot_json.write_text(json.dumps(served))
            line = (sys.executable, "-m", "brat", "doctor", "--github", bot_json)
            doctor = await asyncio.to_thread(ran, line, check=True)
            await asked_for(here.url, known, "Do it", "- [ ] one\n")
            async with (
                bot_service.opened(settings, lambda _: None) as loop,
                bot_service.door(loop, 0) as port,
            ):
                await local_mode.point_hook(here.url, known, port)
                working = asyncio.create_task(bot_service.forever(loop))
                try:
                    yield here, doctor.stderr
                finally:
                    working.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await working
