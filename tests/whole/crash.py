"""A small convoy whose bot dies at a given outside call, and the world it ends in.

The bot runs in this process, so that hundreds of deaths take minutes: its death is an
exception that nothing catches, raised before or after one call of git or HTTP. A new
bot then starts from its folder as a new process would. Forge, git, runners and CI are
the real ones.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.forge.rest import Rest
from bot.forge.transport import Ask
from bot.repository.near_server import NearRemote
from bot.serving import bot_service
from bot.settings.bot_settings import Settings
from brat import demo
from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Ci
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Registration, Source
from grite import git
from tests.world.adopted import asked_for
from tests.world.forge import AUTHOR
from tests.world.trusting_jobs import trusting_jobs

AGENT = """\
case $BRAT_TASK/$BRAT_ATTEMPT in
2/1) exec sleep 86399 ;;
3/1) : > red ;;
*) echo done > $BRAT_TASK.txt ;;
esac
"""
CONFIG = f"""\
[engine.default]
type = "shell"
args = ["sh", "-c", '''{AGENT}''']
"""
LIST = "- [ ] one\n- [ ] two (after 1)\n- [ ] three\n"
LOOK_S = 0.1
READS = {"git cat-file", "git diff-tree", "git ls-remote", "git pack-objects"}
CI = "! test -e red"


class Died(BaseException):
    """The bot is dead: nothing may catch this."""


@dataclass
class Cut:
    """Counts outside calls, and dies at one of them."""

    at: int
    """The call to die at, of those that write, from 0; -1 never."""
    mirror: Path
    """Where the bot's git commands run."""
    after: bool
    """Whether the call still takes effect."""
    names: list[str] = field(default_factory=list)

    @property
    def moments(self) -> int:
        """How many calls were met that write.

        A death around a call that only reads leaves what one after the last call that
        wrote leaves.
        """
        return sum(name not in READS and name[:4] != "GET " for name in self.names)

    def met(self, name: str) -> bool:
        so_far = self.moments
        self.names.append(name)
        return so_far == self.at and so_far < self.moments

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch git and HTTP for as long as the block lasts."""
        run, send = git.run, NearRemote._send  # noqa: SLF001
        asked, download = Rest._asked, Rest.download  # noqa: SLF001

        def cut_run(args: Sequence[str], **given: Any) -> git.Completed:  # noqa: ANN401
            if given.get("cwd") != self.mirror:
                return run(args, **given)  # the forge's or the test's own
            with self._around(f"git {_verb(args)}"):
                return run(args, **given)

        def cut_send(remote: NearRemote, *given: Any, **more: Any) -> None:  # noqa: ANN401
            with self._around("git push"):
                send(remote, *given, **more)

        async def cut_asked(rest: Rest, ask: Ask) -> tuple[object, str | None]:
            if ask.query:
                return await asked(rest, ask)
            with self._around(f"{ask.method} {ask.url.partition('?')[0]}"):
                return await asked(rest, ask)

        async def cut_download(rest: Rest, url: str) -> bytes:
            with self._around("GET artifact"):
                return await download(rest, url)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(git, "run", cut_run)
            patch.setattr(NearRemote, "_send", cut_send)
            patch.setattr(Rest, "_asked", cut_asked)
            patch.setattr(Rest, "download", cut_download)
            yield

    @contextlib.contextmanager
    def _around(self, name: str) -> Iterator[None]:
        dies = self.met(name)
        if dies and not self.after:
            raise Died
        yield
        if dies:
            raise Died


def _verb(args: Sequence[str]) -> str:
    words = [arg for arg in args if not arg.startswith("-") and "=" not in arg]
    return words[0] if words else ""


@dataclass(frozen=True, kw_only=True)
class World:
    convoy: str
    tasks: tuple[tuple[str, int], ...]
    """State and attempts of each."""
    tree: str
    """Of the default branch."""
    pulls: int
    merged_pulls: int
    comments: int
    runs: int
    issue_closed: bool
    queue_branches: int
    faults: tuple[str, ...]


async def story(folder: Path, at: int, *, after: bool) -> tuple[World, Cut]:
    """Play the convoy to its end, with one death on the way.

    Returns the world at the end, and what was counted until the death. `at` is the
    outside call to die at, as `Cut` counts them (-1: none); `after`: that call still
    takes effect.
    """
    known = set_up(folder)
    cut = Cut(at, mirror=folder / BOT_FOLDER / "mirror.git", after=after)
    with trusting_jobs(folder), Forge(folder / FORGE_FOLDER) as forge:
        async with serving(forge) as url, losing_machines(folder):
            settings = local_mode.bot_settings(folder, known, url)
            await asked_for(url, known, "Do it", LIST)
            with cut.watching(), contextlib.suppress(Died):
                await bot(settings, known, url)
            await bot(settings, known, url)
        return seen(folder, forge, known), cut


@contextlib.asynccontextmanager
async def losing_machines(folder: Path) -> AsyncIterator[None]:
    """Kill each run whose agent waits for its machine's end, as long as this lasts."""
    losing = asyncio.create_task(_lose(folder))
    try:
        yield
    finally:
        losing.cancel()


async def _lose(folder: Path) -> None:
    while True:
        demo.lose(folder)
        await asyncio.sleep(LOOK_S)


async def bot(settings: Settings, known: Registration, url: str) -> None:
    """Run one bot until it owes nothing; a death anywhere in it leaves as `Died`."""
    try:
        async with (
            bot_service.opened(settings, lambda _: None) as loop,
            bot_service.door(loop, 0) as port,
        ):
            await local_mode.point_hook(url, known, port)
            await bot_service.until_done(loop)
    except BaseExceptionGroup as group:
        if group.subgroup(Died) is None:
            raise
        raise Died from group


def set_up(folder: Path, config: str = CONFIG) -> Registration:
    project = folder / "project"
    (project / ".brat").mkdir(parents=True)
    (project / ".brat/config.toml").write_text(config)
    git.run(["init", "-q", "-b", "main"], cwd=project)
    git.run(["add", "--all"], cwd=project)
    git.run(["commit", "-q", "-m", "Begin"], cwd=project, env=AUTHOR)
    known = registrations.register(
        folder, Source(path=project, branch="main", name="project", person="you")
    )
    registrations.set_ci(folder, known, Ci(command=CI))
    return known


def seen(folder: Path, forge: Forge, known: Registration) -> World:
    bare = registrations.bare_path(folder, known)
    reader = Reader(bare)
    convoy = next(iter(reader.read().convoys.values()))
    tree = git.run(["rev-parse", "main^{tree}"], cwd=bare).stdout.decode().strip()
    queue = git.run(["for-each-ref", "refs/heads/brat/queue"], cwd=bare).stdout
    store = forge.store
    pulls = store.pulls.all()
    issue = next(i for i in store.issues.all() if i.number == convoy.issue)
    return World(
        convoy=convoy.state,
        tasks=tuple((task.state, task.started) for task in convoy.tasks),
        tree=tree,
        pulls=len(pulls),
        merged_pulls=sum(pull.merged_at is not None for pull in pulls),
        comments=len(store.comments.all()),
        runs=len(store.runs.all()),
        issue_closed=issue.state == "closed",
        queue_branches=len(queue.splitlines()),
        faults=reader.faults,
    )
