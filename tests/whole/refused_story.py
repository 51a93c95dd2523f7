"""Two small convoys on a forge that refuses one thing until it is lifted.

Forge, git, runners and CI are the real ones; only the bot's clock is moved on, whenever
nothing but what is set aside is left to do.
"""

import contextlib
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_IRWXU
from typing import Any, Final

from bot import wall_clock
from bot.loop.loop import PUSHES, Loop
from bot.loop.staging import owes
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.resources.wire import API, Refused
from brat.forge.rest.rest_call import Call, Extension
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER, Registration
from convoy.model.state import State
from convoy.views import state_document
from grite import git
from tests.whole.crash import set_up
from tests.world.adopted import asked_for
from tests.world.trusting_jobs import trusting_jobs

CONFIG: Final = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "echo done > $BRAT_CONVOY.txt"]
"""
TITLES: Final = ("Do this", "Do that")
SAID: Final = "The story does not want it"
MINUTE_MS: Final = 60_000
JUMPS: Final = 4
"""So many minutes without anything else to do are let pass while it is refused."""
TICKS: Final = 400
_NUMBER: Final = re.compile(r"[0-9a-f]{40}|(?<=/)\d+(?=/|$)")


@dataclass
class Minds:
    """What the forge refuses: the first write of a shape, and that one ever after."""

    shape: str = ""
    """Such as `POST issues/N/comments`; empty: nothing."""
    status: int = 0
    loop: Loop | None = None
    met: set[str] = field(default_factory=set)
    """The shapes of all the bot's writes."""
    poisoned: str = ""
    """The one thing that is refused."""
    tries: list[int] = field(default_factory=list)
    """When it was tried, by the bot's clock."""

    def guard(self, call: Call) -> dict[str, str]:
        loop, method = self.loop, call.request.method
        if method == "GET" or loop is None or call.user.login != loop.context.login:
            return {}
        path = call.request.path.removeprefix(f"{API}/repos/{call.repo.full_name}/")
        shape = f"{method} {_NUMBER.sub('N', path)}"
        self.met.add(shape)
        if shape == self.shape:
            thing = f"{path} {_subject(call.body_bytes)}"
            self.poisoned = self.poisoned or thing
            if thing == self.poisoned:
                self.tries.append(loop.context.clock())
                raise Refused(self.status, f"{SAID}.")
        return {}

    def lift(self) -> None:
        self.shape = ""


def _subject(body: bytes) -> str:
    """Return which of several things of one path a request is about."""
    told: dict[str, Any] = json.loads(body or b"{}")
    inputs = told.get("inputs") or {}
    keys = re.findall(r"<!--.*?-->", str(told.get("body", "")))[:1]
    names = told.get("head"), told.get("head_sha"), told.get("external_id")
    return " ".join(map(str, (*names, inputs.get("session"), *keys)))


@dataclass(frozen=True, kw_only=True)
class End:
    convoys: dict[str, tuple[str, ...]]
    """State of each, and of its tasks, with the number of attempts."""
    tree: str
    pulls: int
    merged_pulls: int
    runs: int
    closed_issues: int
    shown: int
    """How many issues have the convoy's own comment."""
    queue_branches: int


@dataclass
class Tale:
    """A served forge, the bot's loop, and its clock."""

    folder: Path
    known: Registration
    forge: Forge
    loop: Loop
    minds: Minds
    skew_ms: int = 0
    jumps: int = 0

    @property
    def state(self) -> State:
        return self.loop.context.mirror.state

    @property
    def complete(self) -> list[str]:
        return [c.name for c in self.state.convoys.values() if c.state == "complete"]

    async def play(self, jumps: int, *, until_over: bool) -> None:
        """Let the bot go on until all is over, or so many minutes have passed."""
        loop, begun = self.loop, self.jumps
        for _ in range(TICKS):
            again = await bot_service.tick(loop)
            waits = not again and not owes(loop.context)
            if waits and until_over and self._is_over():
                return
            if waits or PUSHES in loop.context.troubles:
                if self.jumps - begun == jumps:
                    return
                self.jumps += 1
                self.skew_ms += MINUTE_MS + 1000
                loop.wake.all()
            else:
                await loop.wait(again=again)
        raise AssertionError(f"it goes on for ever: {self.document()}")

    def _is_over(self) -> bool:
        return len(self.complete) == len(TITLES) and not self.named()

    def document(self) -> dict[str, Any]:
        return state_document(self.state, self.loop.context.clock())

    def named(self) -> list[str]:
        found = self.document()["interventions"]
        return [each["why"] for each in found if each["kind"] == "set_aside"]

    def said(self) -> list[str]:
        comments = self.forge.store.comments.all()
        return [each.body for each in comments if SAID in each.body]

    def hook(self, name: str, script: str) -> Path:
        bare = registrations.bare_path(self.folder, self.known)
        hook = bare / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{script}\n")
        hook.chmod(S_IRWXU)
        return hook

    def end(self) -> End:
        bare, store = registrations.bare_path(self.folder, self.known), self.forge.store
        tree = git.run(["ls-tree", "--name-only", "main"], cwd=bare).stdout.decode()
        queue = git.run(["for-each-ref", "refs/heads/brat/queue"], cwd=bare).stdout
        return End(
            convoys={
                c.name: (c.state, *(f"{t.state} {t.started}" for t in c.tasks))
                for c in self.state.convoys.values()
            },
            tree=tree,
            pulls=len(store.pulls.all()),
            merged_pulls=sum(p.merged_at is not None for p in store.pulls.all()),
            runs=len(store.runs.all()),
            closed_issues=sum(i.state == "closed" for i in store.issues.all()),
            shown=len({c.comment for c in self.state.convoys.values()} - {None}),
            queue_branches=len(queue.splitlines()),
        )


@contextlib.asynccontextmanager
async def tale(folder: Path, minds: Minds) -> AsyncIterator[Tale]:
    """Serve a repository in which two convoys are asked for."""
    known = set_up(folder, CONFIG)
    extend = Extension(guards=(minds.guard,))
    with trusting_jobs(folder), Forge(folder / FORGE_FOLDER) as forge:
        async with serving(forge, extend=lambda _: extend) as url:
            settings = local_mode.bot_settings(folder, known, url)
            for title in TITLES:
                await asked_for(url, known, title, "- [ ] one\n")
            async with (
                bot_service.opened(settings, lambda _: None) as loop,
                bot_service.door(loop, 0) as port,
            ):
                await local_mode.point_hook(url, known, port)
                told = Tale(folder, known, forge, loop, minds)
                loop.context.clock = lambda: wall_clock() + told.skew_ms
                minds.loop = loop
                yield told
