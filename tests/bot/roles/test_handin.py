"""Work that was cut off is kept, and the next attempt hands in the whole of it."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.roles.result_artifact import LOST, fetch
from bot.roles.witness import collect
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from convoy.model import ids
from convoy.model.records import Usage
from convoy.model.state import Task
from convoy.owed import Begin, Collect
from convoy.owed.owed import owed_actions
from convoy.rules.retries import RetryTask
from tests.bot.hostile import Work
from tests.bot.result_artifacts import result, zipped
from tests.bot.room import EVERYBODY, NAME, SHELL, Room, room
from tests.bot.there import there
from tests.world.github_forge.extension import people

Said = dict[str, Any]
CUT: Said = {"conclusion": "timed_out", "outcome": "deadline", "why": "It was ended."}


async def handed_in(
    here: Room, *files: tuple[str, bytes], number: int = 1, **given: object
) -> Task:
    """Let the bot take what the newest attempt at a task left; return the task."""
    context, attempt = here.context, there(here.task(number).attempt)
    told = result(
        session=ids.session_name(NAME, number, attempt.number),
        nonce=f"nonce{number}",
        base=attempt.base,
        **given,
    )
    draft = context.draft()
    parcel = zipped(("result.json", told), *files)
    off = given.get("conclusion") == "cancelled"
    collect(draft, Collect(NAME, number, attempt.run or 0, called_off=off), parcel)
    await here.pushed(draft)
    return here.task(number)


def next_base(here: Room) -> str:
    """Return what the next attempt at task 1 is to start from."""
    context, seen = here.context, here.context.observed
    seen.refs.update(context.mirror.refs)
    patience, now = context.settings.patience, context.clock()
    owed = owed_actions(context.mirror.state, seen, patience, now)
    return next(a.base for a in owed if isinstance(a, Begin) and a.task == 1)


@pytest.fixture
async def work(here: Room, tmp_path: Path) -> Work:
    """Start task 1, and give its agent's repository."""
    base = await here.started(1, run=77)
    return Work(tmp_path, here.context.mirror.path, base)


def half_done(work: Work, name: str = "half.txt") -> tuple[str, tuple[str, bytes]]:
    """Return a commit of half of the work, and a bundle of it."""
    half = work.commit({name: b"half\n"}, work.base)
    return half, ("work.bundle", work.bundled(half))


@pytest.mark.parametrize("more", [True, False])
async def test_the_whole_of_the_work_is_handed_in_by_who_went_on(
    here: Room, work: Work, *, more: bool
) -> None:
    half, bundle = half_done(work)

    task = await handed_in(here, bundle, commit=half, **CUT)

    told = ("It was ended.",)
    assert (task.state, task.cause, task.notes) == ("queued", "failed", told)
    assert next_base(here) == half

    assert await here.started(1, run=78) == half
    attempt = there(here.task(1).attempt)
    assert (attempt.root, attempt.salvaged) == (work.base, 1)
    whole, files = half, ["half.txt"]
    if more:
        whole, files = work.commit({"whole.txt": b"1\n"}, half), [*files, "whole.txt"]
    packed = [("work.bundle", work.bundled(whole, half))] if more else []
    task = await handed_in(here, *packed, commit=whole)

    assert task.state == "needs-review", task.why
    done = there(task.work)
    assert (done.base, sorted(done.files)) == (work.base, files)
    assert here.tip(ids.task_branch(NAME, 1)) == whole


@pytest.mark.parametrize("why", ["is not kept: ", "cannot be read: "])
async def test_what_is_beside_the_work_and_cannot_be_kept_is_named(
    here: Room, work: Work, why: str
) -> None:
    done = work.commit({"done.txt": b"done\n"}, work.base)
    secret = work.commit({"key": b"ghp_" + b"a1B2c3D4e5" * 4}, work.base)
    packed = work.bundled(done, beside=secret)
    if why == "cannot be read: ":
        packed = packed.replace(secret.encode(), b"a" * 40)

    task = await handed_in(here, ("work.bundle", packed), commit=done)

    said = f"What is on another branch, or stashed, {why}"
    assert (task.state, task.learned[0][: len(said)]) == ("needs-review", said)


@pytest.mark.parametrize("sole", [True, False])
async def test_a_session_that_was_called_off_counts_on_ones_own_machine_as_none(
    here: Room, work: Work, *, sole: bool
) -> None:
    off = CUT | {"conclusion": "cancelled", "outcome": "cancelled"}
    here.configure(sole=sole)
    half, bundle = half_done(work)

    task = await handed_in(here, bundle, commit=half, **off)

    assert (task.state, task.spent) == ("queued", 0 if sole else 1)
    assert next_base(here) == half


# --- an attempt whose runner died is lost, and what it is known to have used is not ---

pytestmark = [pytest.mark.layer("landing"), pytest.mark.room(SHELL)]

CHECKPOINT = "checkpoint.bundle"


async def lost(here: Room, *files: tuple[str, bytes], why: str = LOST) -> Task:
    """Let task 1's session end without a result; return the task."""
    draft = here.context.draft()
    collect(draft, Collect(NAME, 1, 77), zipped(*files) if files else why)
    await here.pushed(draft)
    return here.task(1)


@web.middleware
async def _not_let(
    request: web.Request,
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
) -> web.StreamResponse:
    if request.path.endswith("/actions/runs/77/artifacts"):
        return web.json_response({"total_count": 0, "artifacts": []})
    if request.path.endswith("/actions/runs/77"):
        told = {"id": 77, "status": "completed", "conclusion": "startup_failure"}
        return web.json_response(told | {"html_url": "https://here/77"})
    return await handler(request)


def not_let(service: Service) -> Extension:
    return replace(people(service), middlewares=(_not_let,))


@pytest.mark.room(SHELL, extend=not_let)
async def test_an_attempt_whose_run_was_not_started_says_why(here: Room) -> None:
    here.configure(artifact_grace_s=0)
    await here.started(1, run=77)

    why = await fetch(here.context, Collect(NAME, 1, 77))
    assert isinstance(why, str)
    task = await lost(here, why=why)

    assert "could not start the run (https://here/77)" in task.why


@pytest.mark.parametrize("way", ["feed", CHECKPOINT, "work.bundle", "cut off"])
async def test_what_was_done_until_then_is_gone_on_from(
    here: Room, work: Work, way: str
) -> None:
    """An older one counts where the newest is of no use."""
    half, (name, packed) = half_done(work)
    files = [] if way == "feed" else [(way, packed)]
    if way == "feed":
        there(here.context.feed).keep(f"{NAME}/1/1", packed)
    elif way == "cut off":
        files = [(name, packed[: len(packed) // 2]), (CHECKPOINT, packed)]

    task = await lost(here, *files)

    assert task.notes == (f"{LOST}; its work so far is kept",)
    left = there(task.half_done)
    assert (left.commit, left.base) == (half, work.base)
    assert here.context.mirror.refs[ids.attempt_ref(NAME, 1, 1)] == half


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        ("rubbish", "it cannot be read: it is not a git bundle"),
        ("protected", "The patch changes a protected path: AGENTS.md."),
        ("elsewhere", "it is not based on the commit that the attempt started from"),
        ("bomb", "it cannot be read: "),
    ],
)
async def test_a_hostile_checkpoint_is_refused_and_the_next_is_told(
    here: Room, work: Work, harm: str, why: str
) -> None:
    alone = work.history.commit({"a": b"1\n"})
    packed = {
        "rubbish": lambda: b"x",
        "protected": lambda: half_done(work, "AGENTS.md")[1][1],
        "elsewhere": lambda: work.bundled(alone, work.base),
        "bomb": work.delta_bomb,
    }[harm]()

    task = await lost(here, (CHECKPOINT, packed))

    (note,) = task.notes
    assert note.startswith(f"{LOST}; its work so far cannot be used: ")
    assert why in note
    assert (task.state, task.half_done) == ("queued", None)
    refs = here.context.mirror.refs
    assert not [ref for ref in refs if ref.startswith("refs/grite/attempts/")]


NOOP: Said = {"status": "noop", "conclusion": "noop"}
CHECKED = "- [ ] Add a accept: `test -e a`\n"


@pytest.mark.parametrize(
    ("text", "accepted"),
    [(CHECKED, True), (CHECKED, None), ("- [ ] Add a\n", True)],
    ids=["passes", "does not", "a claim that nobody asked for"],
)
async def test_nothing_to_do_settles_a_task_only_where_its_command_passes(
    tmp_path: Path, text: str, accepted: object
) -> None:
    async with room(tmp_path, SHELL, text=text) as here:
        await here.started(1, run=77)

        task = await handed_in(here, **NOOP, accepted=accepted, summary="It is there.")

        said = "found nothing to do (It is there)"
        if text == CHECKED and accepted:
            assert (task.state, task.landed) == ("merged", None)
            assert task.learned == (f"the agent {said}",)
        else:
            assert task.state == "queued"
            assert f"{said}, but no acceptance command confirms" in task.why


@pytest.mark.parametrize("strategy", ["rebase", "squash", "merge"])
async def test_what_other_work_has_landed_is_nothing_to_do(
    tmp_path: Path, strategy: str
) -> None:
    config = f'[refinery]\nstrategy = "{strategy}"\n'
    async with room(tmp_path, config) as here:
        work = await here.worked(1, {"one.py": b"one\n"})
        assert here.task(1).state == "needs-review"

        tip = await here.landed_on_base({"one.py": b"one\n"})
        await here.until(lambda: here.task(1).state == "merged")

        assert here.task(1).landed is None
        assert "already has all of its changes" in here.task(1).why
        assert here.tip(f"convoy/{NAME}/base") == tip
        assert here.tip(f"convoy/{NAME}/task-1") == tip
        assert work in here.context.mirror.refs.values()


# --- a setup that failed and a hand-off that was not taken are nobody's attempt -------

WHY = ".brat/setup.sh exited with status 4: No package foo."


async def test_a_failed_setup_costs_nothing_and_lost_usage_counts(here: Room) -> None:
    """An attempt whose run somebody deleted is lost, too."""
    line = b'{"type":"usage","input_tokens":70}\n{"type":"cost","usd":0.5}\n{"ty'
    await here.started(1, run=77)
    task = await lost(here, ("usage.jsonl", line))
    assert (task.state, task.cause) == ("queued", "lost")
    assert task.used == Usage(input_tokens=70, usd=0.5)

    await here.started(1, run=77)
    task = await handed_in(here, conclusion="failure", outcome="setup", why=WHY)

    assert (task.state, task.why, task.spent) == ("blocked", WHY, 1)
    await here.do(RetryTask(convoy=NAME, task=1, by="ann"))
    assert here.task(1).state == "queued"

    here.configure(artifact_grace_s=0)
    await here.started(1, run=77)
    here.configure(roles=EVERYBODY)
    await here.swept()
    assert (here.task(1).cause, here.task(1).set_aside) == ("lost", None)


@pytest.mark.parametrize("attempt", [1, 2])
async def test_a_session_that_was_not_begun_blocks_the_task_with_the_jobs_words(
    here: Room, work: Work, attempt: int
) -> None:
    half, (_, packed) = half_done(work)
    told = {"v": 1, "session": f"{NAME}/1/{attempt}", "why": "The disk is full."}
    why = "turned-away.json", json.dumps(told).encode()

    task = await lost(here, why, (CHECKPOINT, packed))

    if attempt == 1:
        assert (task.state, task.spent, task.why) == ("blocked", 0, told["why"])
        assert there(task.half_done).commit == half
    else:
        assert (task.state, task.cause) == ("queued", "refused")
