"""An attempt whose runner died is lost, and what it is known to have used is not."""

from pathlib import Path

import pytest

from bot.roles.handin import collect
from bot.roles.witness import LOST
from convoy.model import ids
from convoy.model.records import Usage
from convoy.model.state import Task
from convoy.owed import Collect
from tests.bot.hostile import Work
from tests.bot.result_artifacts import zipped
from tests.bot.room import NAME, Room, room

pytestmark = pytest.mark.layer("landing")

CONFIG = """\
[engine.default]
type = "shell"
args = ["true"]
"""
CHECKPOINT = "checkpoint.bundle"


async def test_a_lost_attempt_is_counted_by_its_usage_file(tmp_path: Path) -> None:
    line = b'{"type":"usage","input_tokens":70}\n{"type":"cost","usd":0.5}\n{"ty'
    async with room(tmp_path, CONFIG) as here:
        await here.started(1, run=77)
        context = here.loop.context
        draft = context.draft()

        collect(context, draft, Collect(NAME, 1, 77), zipped(("usage.jsonl", line)))

        task = draft.state.convoys[NAME].task(1)
        assert task is not None
        assert (task.state, task.cause) == ("queued", "lost")
        assert task.used == Usage(input_tokens=70, usd=0.5)


async def lost(here: Room, *files: tuple[str, bytes]) -> Task:
    """Let task 1's session end without a result; return the task."""
    context = here.loop.context
    draft = context.draft()
    collect(context, draft, Collect(NAME, 1, 77), zipped(*files) if files else LOST)
    await here.pushed(draft)
    return here.task(1)


def bundle(here: Room, folder: Path, base: str, *names: str) -> tuple[str, bytes]:
    """Return a commit that adds these files to a base, and a bundle of it."""
    folder.mkdir()
    work = Work(folder, here.loop.context.mirror.path, base)
    commit = work.commit(dict.fromkeys(names, b"half\n"), base)
    return commit, work.bundled(commit)


@pytest.mark.parametrize("way", ["feed", CHECKPOINT, "work.bundle"])
async def test_what_was_done_until_then_is_gone_on_from(
    tmp_path: Path, way: str
) -> None:
    async with room(tmp_path, CONFIG) as here:
        base = await here.started(1, run=77)
        half, packed = bundle(here, tmp_path / "agent", base, "half.txt")
        files = [] if way == "feed" else [(way, packed)]
        if not files:
            assert here.loop.context.feed is not None
            here.loop.context.feed.keep(f"{NAME}/1/1", packed)

        task = await lost(here, *files)

        assert task.notes == (f"{LOST}; its work so far is kept",)
        assert task.half_done is not None
        assert (task.half_done.commit, task.half_done.base) == (half, base)
        kept = here.loop.context.mirror.refs[ids.attempt_ref(NAME, 1, 1)]
        assert kept == half


async def test_where_the_newest_is_of_no_use_an_older_one_is(tmp_path: Path) -> None:
    async with room(tmp_path, CONFIG) as here:
        base = await here.started(1, run=77)
        half, packed = bundle(here, tmp_path / "agent", base, "half.txt")
        cut = packed[: len(packed) // 2]

        task = await lost(here, ("work.bundle", cut), (CHECKPOINT, packed))

        assert task.half_done is not None
        assert task.half_done.commit == half


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        ("rubbish", "it cannot be read: it does not begin like a git bundle"),
        ("protected", "The patch changes a protected path: AGENTS.md."),
        ("elsewhere", "it is not based on the attempt's commit"),
        ("bomb", "it cannot be read: "),
    ],
)
async def test_a_hostile_checkpoint_is_refused_and_the_next_is_told(
    tmp_path: Path, harm: str, why: str
) -> None:
    async with room(tmp_path, CONFIG) as here:
        base = await here.started(1, run=77)
        work = Work(tmp_path, here.loop.context.mirror.path, base)
        alone = work.history.commit({"a": b"1\n"})
        packed = {
            "rubbish": lambda: b"x",
            "protected": lambda: bundle(here, tmp_path / "a", base, "AGENTS.md")[1],
            "elsewhere": lambda: work.bundled(alone, base),
            "bomb": work.delta_bomb,
        }[harm]()

        task = await lost(here, (CHECKPOINT, packed))

        (note,) = task.notes
        assert note.startswith(f"{LOST}; its work so far cannot be used: ")
        assert why in note
        assert (task.state, task.half_done) == ("queued", None)
        refs = here.loop.context.mirror.refs
        assert not [ref for ref in refs if ref.startswith("refs/grite/attempts/")]
