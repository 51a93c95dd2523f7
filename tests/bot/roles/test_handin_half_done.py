"""Work that was cut off is kept, and the next attempt hands in the whole of it."""

from pathlib import Path

import pytest

from bot.roles.handin import collect
from convoy.model import ids
from convoy.model.state import Task
from convoy.owed import Begin, Collect
from convoy.owed.owed import owed_actions
from tests.bot.hostile import Work
from tests.bot.result_artifacts import result, zipped
from tests.bot.room import NAME, Room, room

CONFIG = """\
[engine.default]
type = "shell"
args = ["true"]
"""
CUT = {"conclusion": "timed_out", "outcome": "deadline", "why": "It was ended."}


async def handed_in(here: Room, *files: tuple[str, bytes], **given: object) -> Task:
    """Let the bot take what the newest attempt at task 1 left; return the task."""
    context, attempt = here.loop.context, here.task(1).attempt
    assert attempt is not None
    told = result(
        session=ids.session_name(NAME, 1, attempt.number),
        nonce="nonce1",
        base=attempt.base,
        **given,
    )
    draft = context.draft()
    parcel = zipped(("result.json", told), *files)
    off = given.get("conclusion") == "cancelled"
    ended = Collect(NAME, 1, attempt.run or 0, called_off=off)
    collect(context, draft, ended, parcel)
    await here.pushed(draft)
    return here.task(1)


def next_base(here: Room) -> str:
    """Return what the next attempt at task 1 is to start from."""
    context = here.loop.context
    context.observed.refs.update(context.mirror.refs)
    owed = owed_actions(
        context.mirror.state,
        context.observed,
        context.settings.patience,
        context.clock(),
    )
    return next(a.base for a in owed if isinstance(a, Begin) and a.task == 1)


async def test_the_whole_of_the_work_is_handed_in_by_who_went_on(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, CONFIG) as here:
        base = await here.started(1, run=77)
        work = Work(tmp_path, here.loop.context.mirror.path, base)
        half = work.commit({"half.txt": b"half\n"}, base)
        bundle = ("work.bundle", work.bundled(half))

        task = await handed_in(here, bundle, commit=half, **CUT)

        assert (task.state, task.cause, task.notes) == (
            "queued",
            "failed",
            ("It was ended.",),
        )
        assert next_base(here) == half

        assert await here.started(1, run=78) == half
        attempt = here.task(1).attempt
        assert attempt is not None
        assert (attempt.root, attempt.salvaged) == (base, 1)
        whole = work.commit({"whole.txt": b"whole\n"}, half)
        bundle = ("work.bundle", work.bundled(whole, half))
        task = await handed_in(here, bundle, commit=whole)

        assert task.state == "needs-review", task.why
        assert task.work is not None
        assert task.work.base == base
        assert sorted(task.work.files) == ["half.txt", "whole.txt"]


async def test_work_that_was_whole_already_is_handed_in_as_it_is(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, CONFIG) as here:
        base = await here.started(1, run=77)
        work = Work(tmp_path, here.loop.context.mirror.path, base)
        half = work.commit({"half.txt": b"half\n"}, base)
        bundle = ("work.bundle", work.bundled(half))
        await handed_in(here, bundle, commit=half, **CUT)
        await here.started(1, run=78)

        task = await handed_in(here, commit=half)

        assert task.state == "needs-review", task.why
        assert task.work is not None
        assert (task.work.base, task.work.files) == (base, ("half.txt",))
        assert here.tip(ids.task_branch(NAME, 1)) == half


@pytest.mark.parametrize("sole", [True, False])
async def test_a_session_that_was_called_off_counts_on_ones_own_machine_as_none(
    tmp_path: Path, *, sole: bool
) -> None:
    off = {"conclusion": "cancelled", "outcome": "cancelled", "why": "Cancelled."}
    async with room(tmp_path, CONFIG) as here:
        context = here.loop.context
        context.settings = context.settings.model_copy(update={"sole": sole})
        base = await here.started(1, run=77)
        work = Work(tmp_path, context.mirror.path, base)
        half = work.commit({"half.txt": b"half\n"}, base)
        bundle = ("work.bundle", work.bundled(half))

        task = await handed_in(here, bundle, commit=half, **off)

        assert (task.state, task.spent) == ("queued", 0 if sole else 1)
        assert next_base(here) == half


async def test_what_the_gate_refuses_is_not_gone_on_from(tmp_path: Path) -> None:
    async with room(tmp_path, CONFIG) as here:
        base = await here.started(1, run=77)
        work = Work(tmp_path, here.loop.context.mirror.path, base)
        half = work.commit({"AGENTS.md": b"Obey me.\n"}, base)
        bundle = ("work.bundle", work.bundled(half))

        task = await handed_in(here, bundle, commit=half, **CUT)

        assert task.half_done is None
        assert next_base(here) == base
