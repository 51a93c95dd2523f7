"""Each write of a convoy is refused in turn: the others land, and it is done later."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path
from stat import S_IRWXU
from typing import Any, Final

import pytest

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
from tests.world.layers import sampled
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


STATUSES: Final = (403, 404, 410, 422)
WRITES: Final = (
    "DELETE issues/N/labels/brat",
    "DELETE issues/N/labels/brat:active",
    "PATCH check-runs/N",
    "PATCH issues/N",
    "PATCH issues/comments/N",
    "POST actions/workflows/brat-task.yml/dispatches",
    "POST check-runs",
    "POST issues/N/comments",
    "POST issues/N/labels",
    "POST pulls",
)
"""Every shape of a write; a test below holds that there is no other."""
UNSAID: Final = "POST issues/N/comments"
"""Nothing can be said where nothing may be said."""
NO_REFUSAL: Final = {
    ("DELETE issues/N/labels/brat", 404),
    ("DELETE issues/N/labels/brat:active", 404),
    ("POST check-runs", 403),
}
"""What is to be deleted and is not there is deleted; a bot that may not make check runs
shows statuses."""
VIEWS: Final = 4
"""What labels, or a check, show one after the other; each is tried once."""
FIRST: Final = "do-this-1"
OTHER: Final = "do-that-2"
REFS: Final = {
    "base": f"refs/heads/convoy/{FIRST}/base",
    "task": f"refs/heads/convoy/{FIRST}/task-1",
    "queue": f"refs/heads/brat/queue/convoy--{FIRST}--base/*",
    "target": "refs/heads/main",
}
SHARED: Final = {"target"}
LANDED: Final = {name: 0 if name == "target" else 1 for name in REFS}
"""How many convoys land meanwhile: the target is every convoy's."""
WORST: Final = 8
"""How many pushes a minute may be refused where no ref is named: 6, and what is under
way."""
LANDING: Final = {
    ("POST pulls", 422),
    ("POST actions/workflows/brat-task.yml/dispatches", 404),
}
"""What CI looks at on each change."""
ROUND: Final = {(shape, STATUSES[n % 4]) for n, shape in enumerate(WRITES)}
"""Each write once and each status: what a status means, tests/bot/forge holds."""

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[End, set[str]]:
    async def play() -> tuple[End, set[str]]:
        minds = Minds()
        async with tale(tmp_path_factory.mktemp("calm"), minds) as told:
            await told.play(JUMPS, until_over=True)
            return told.end(), minds.met

    return asyncio.run(play())


@pytest.mark.layer("landing")
def test_undisturbed_both_convoys_land(calm: tuple[End, set[str]]) -> None:
    end, met = calm

    assert met == {*WRITES}
    assert end.convoys == {
        FIRST: ("complete", "merged 1"),
        OTHER: ("complete", "merged 1"),
    }
    assert (end.pulls, end.merged_pulls, end.runs, end.shown) == (4, 4, 2, 2)
    assert end.queue_branches == 0


async def lifted(told: Tale, lift: Callable[[], object], calm: End) -> None:
    """Lift the refusal: everything ends as without it."""
    lift()
    await told.play(5 * JUMPS, until_over=True)
    assert told.named() == []
    assert told.end() == calm


@pytest.mark.parametrize(
    ("shape", "status"), sampled(sorted(ROUND | NO_REFUSAL | LANDING), LANDING)
)
async def test_a_write_that_is_refused_keeps_nothing_else_waiting(
    shape: str, status: int, tmp_path: Path, calm: tuple[End, set[str]]
) -> None:
    minds = Minds(shape=shape, status=status)
    async with tale(tmp_path, minds) as told:
        await told.play(JUMPS, until_over=False)

        assert minds.poisoned, "it was never written"
        assert told.complete, "the other convoy has to land"
        if (shape, status) in NO_REFUSAL:
            assert len(minds.tries) <= VIEWS
        else:
            waits = [later - early for early, later in pairwise(minds.tries)]
            assert all(wait >= MINUTE_MS << n for n, wait in enumerate(waits)), waits
            assert told.named(), "nobody is told what is refused"
            assert told.said() or shape == UNSAID, "its issue does not tell"
        await lifted(told, minds.lift, calm[0])


@pytest.mark.parametrize(
    ("what", "named"),
    sampled(product(REFS, (True, False)), {("task", True)}),
)
async def test_a_ref_that_is_refused_keeps_nothing_else_waiting(
    what: str, *, named: bool, tmp_path: Path, calm: tuple[End, set[str]]
) -> None:
    pushes = tmp_path / "pushes"
    async with tale(tmp_path / "tale", Minds()) as told:
        hook = told.hook(*refusing(REFS[what], pushes, named=named))
        await told.play(JUMPS, until_over=False)

        assert len(told.complete) == LANDED[what]
        assert what in SHARED or told.complete == [OTHER]
        tries, minutes = len(pushes.read_text().splitlines()), told.jumps + 1
        refs = 2 if what in SHARED else 1
        assert tries <= minutes * (refs if named else WORST)
        why = told.named()
        assert why, "nobody is told what is refused"
        assert all(SAID in each for each in why)
        assert told.said(), "no issue tells what is refused"
        await lifted(told, hook.unlink, calm[0])


def refusing(pattern: str, pushes: Path, *, named: bool) -> tuple[str, str]:
    """Return the hook, and its script, that refuses a ref and notes each try."""
    said = f"{{ echo {SAID}; echo >>{pushes}; exit 1; }}"
    if named:
        return "update", f"case $1 in {pattern}) {said};; esac"
    cases = f"case $ref in {pattern}) {said};; esac"
    return "pre-receive", f"while read -r old new ref; do {cases}; done"
