"""A job that stays dies at any step of its hand-over: the next one does nothing twice.

It answers a comment under a lease just pushed, so that only its hand-over would tell
the log of the answer. The next job has another machine and the same repository.
"""

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from math import inf
from pathlib import Path
from time import monotonic

import pytest

from bot import oneshot
from bot.loop.loop import Loop
from bot.loop.pushing import TTL_S
from bot.serving import bot_service
from bot.settings.bot_settings import Settings
from bot.settings.oneshot_settings import loops_actor
from brat.forge.http_server import serving
from brat.forge.service.run_processes import How
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import FORGE_FOLDER, Registration
from convoy.model.ids import keys_in
from grite import lease
from grite.resource import BOT as RESOURCE
from tests.forge.running import starter
from tests.whole.crash import Cut, Died, set_up
from tests.world.adopted import calling
from tests.world.forge import until
from tests.world.layers import sampled
from tests.world.patience import patient
from tests.world.trusting_jobs import trusting_jobs

CONFIG = """\
[engine.default]
type = "shell"
args = ["true"]
[actions]
stay = true
"""
MOMENTS = 24
"""More than there are; the test without a death holds that."""
SAID = ("/brat ping", "/brat ping", "/brat retry 9")
"""The first takes the lease; the others are answered under it, the last in a text."""
LANDING = {("before", 8), ("after", 8), ("before", 12), ("after", 12)}


@dataclass(frozen=True, kw_only=True)
class World:
    reactions: tuple[tuple[str, ...], ...]
    """To each comment."""
    repeated: tuple[str, ...]
    """Keys that more than one comment has."""
    comments: int
    bodies: tuple[str, ...] = field(compare=False)
    """Of the comments: what a wrong number of them said."""
    answered: bool
    """Whether the log tells of each answer."""
    runs: int
    is_held: bool
    """Whether somebody still holds the lease."""
    faults: tuple[str, ...]


@pytest.mark.layer("landing")
def test_undisturbed_each_comment_has_one_answer(tmp_path: Path) -> None:
    world, cut = asyncio.run(story(tmp_path, -1, after=False))

    assert world == UNDISTURBED
    assert sum(name == "git push" for name in cut.names) == 2, cut.names
    assert cut.moments < MOMENTS


@pytest.mark.parametrize(
    ("word", "moment"), sampled(product(("before", "after"), range(MOMENTS)), LANDING)
)
def test_a_job_that_dies_at_any_step_of_its_hand_over_changes_nothing(
    word: str, moment: int, tmp_path: Path
) -> None:
    world, _ = asyncio.run(story(tmp_path, moment, after=word == "after"))

    assert world == UNDISTURBED, world.bodies


UNDISTURBED = World(
    reactions=(("rocket",), ("rocket",), ("confused",)),
    repeated=(),
    comments=len(SAID) + 2,
    bodies=(),
    answered=True,
    runs=1,
    is_held=False,
    faults=(),
)


@dataclass(kw_only=True)
class Stage:
    """The repository on its forge, and a person who comments."""

    forge: Forge
    known: Registration
    settings: Settings
    issue: int = 0
    said: list[int] = field(default_factory=list)
    """The comments."""
    saying: asyncio.Task[int] | None = None
    """The last comment, which is left even when the job beside it dies."""

    async def say(self) -> int:
        """Leave the next comment; no call of the bot's."""
        self.saying = asyncio.create_task(self._say())
        return await asyncio.shield(self.saying)

    async def _say(self) -> int:
        body, comments = {"body": SAID[len(self.said)]}, f"issues/{self.issue}/comments"
        async with calling(self.settings.git_url, self.known) as client:
            answer = await client.post(comments, json=body)
        self.said.append(int(answer.raise_for_status().json()["id"]))
        return self.said[-1]

    def reactions(self, comment: int) -> tuple[str, ...]:
        """Return the reactions to a comment, but for the one that it was seen."""
        found = self.forge.store.reactions.of(comment)
        return tuple(each.content for each in found if each.content != "eyes")

    async def job(self, number: int, *, talks: bool = False) -> None:
        """Run a job on a machine of its own: while people talk, or one round."""
        machine = self.settings.folder.with_name(f"job-{number}")
        machine.mkdir()
        (machine / "actor").write_text(loops_actor(self.settings.repository))
        told = {"folder": machine, "key_folder": self.settings.folder, "sole": False}
        settings = self.settings.model_copy(update=told)
        try:
            async with (
                asyncio.timeout(patient(60)),
                bot_service.opened(settings, lambda _: None) as loop,
            ):
                await bot_service.tick(loop)
                if loop.lease.ref in loop.context.mirror.refs and not loop.lease.held:
                    # A dead job's lease stands for its time, which passes at once.
                    loop.lease.ticking = lambda: monotonic() + TTL_S
                await self._stays(loop, talks=talks)
        except BaseExceptionGroup as group:
            if group.subgroup(Died) is None:
                raise
            raise Died from group

    async def _stays(self, loop: Loop, *, talks: bool) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(oneshot, "LIMIT_S", inf if talks else 0.0)
            async with asyncio.TaskGroup() as group:
                once = oneshot.run_once(loop, after=None, ci_wait_s=0)
                running = group.create_task(once)
                for _ in SAID if talks else ():
                    comment = await self.say()
                    await until(
                        lambda: self.reactions(comment) or running.done(),  # noqa: B023  it ends first
                        deadline_s=patient(60),
                    )
                patch.setattr(oneshot, "LIMIT_S", 0.0)
                await running


async def story(folder: Path, at: int, *, after: bool) -> tuple[World, Cut]:
    """Let one job after another stay; the second dies as `tests.whole.crash` says."""
    known = set_up(folder, CONFIG)
    cut = Cut(at, mirror=folder / "job-2" / bot_service.MIRROR, after=after)
    how = How(starter("wait"), interrupt_s=0.2, terminate_s=0.2)
    with trusting_jobs(folder), Forge(folder / FORGE_FOLDER) as forge:
        async with (
            serving(forge, how=how) as url,
            local_mode.person(url, known) as person,
        ):
            settings = local_mode.bot_settings(folder, known, url)
            here = Stage(forge=forge, known=known, settings=settings)
            here.issue = await person.open_issue("Do it", "All of it.")
            await person.relabel(here.issue, {"brat"}, set())
            await here.job(1)
            with cut.watching(), contextlib.suppress(Died):
                await here.job(2, talks=True)
            if here.saying is not None:
                await here.saying
            while len(here.said) < len(SAID):
                await here.say()
            await here.job(3)
            world = seen(folder, here)
            for run in forge.store.runs.all():
                await person.runs.cancel(run.id)
            runs = forge.store.runs
            await until(lambda: all(r.status == "completed" for r in runs.all()))
    return world, cut


def seen(folder: Path, here: Stage) -> World:
    reader = Reader(registrations.bare_path(folder, here.known))
    state, bodies = reader.read(), [e.body for e in here.forge.store.comments.all()]
    times = Counter(key for body in bodies for key in keys_in(body))
    refs = here.forge.bare(here.forge.known(here.known.repository)).refs()
    return World(
        reactions=tuple(here.reactions(comment) for comment in here.said),
        repeated=tuple(key for key, count in times.items() if count > 1),
        comments=len(bodies),
        bodies=tuple(bodies),
        answered=not state.intents and {*here.said} <= state.answered,
        runs=len(here.forge.store.runs.all()),
        is_held=lease.ref_of(RESOURCE) in refs,
        faults=reader.faults,
    )
