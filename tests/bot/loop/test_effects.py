"""What the loop does on the forge: in which order, and what it leaves alone or ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest

from bot.door.inbox import StartRequest
from bot.forge.rest import Refused
from bot.forge.transport import Ask, HttpReply, Precedence, Wire
from bot.loop.loop import Loop, precedence_of
from bot.loop.pushing import ASKED_GAP_S, MINUTE_S, SPARE_S, TTL_S
from bot.repository.strangers_commits import EXAMINERS
from bot.roles.bot_context import (
    RETRY_S,
    Troubles,
    Unsettled,
    another_try,
    quiet_try,
    trying,
)
from bot.serving import bot_service
from brat.forge.resources.forge_records import Run
from convoy.events.session_events import DAY_MS
from convoy.model import ids
from convoy.model.ids import ActionKind, SetAside
from convoy.model.state import State
from convoy.model.work import Intent
from convoy.owed import Do, Effect, Show
from convoy.rules.people import DropTask
from grite.errors import Unavailable
from tests.bot.hosted import elsewhere
from tests.bot.requests.test_missed_comments import ping, settings
from tests.bot.room import DEADLINE_S, EVERYBODY, NAME, Room, room
from tests.bot.serving.hosted_town import labelled
from tests.world.forge import REPO, Town, until
from tests.world.forge_rules import put_hook
from tests.world.github_forge.injected_faults import Faults
from tests.world.traffic import Exchange

pytestmark = pytest.mark.room(roles=("mayor",), delivered=True)


def intended(kind: ActionKind) -> Do:
    return Do(Intent(key=kind, kind=kind, convoy="fix-7", task=1, attempt=1))


def test_sessions_start_before_what_nobody_waits_for() -> None:
    wanted: list[Effect] = [
        Show("fix-7", "comment"),
        intended("pull"),
        intended("dispatch"),
        intended("comment"),
        intended("answer"),
    ]

    first, second, third, *rest = sorted(wanted, key=precedence_of)

    assert [first, second] == [intended("comment"), intended("answer")]
    assert third == intended("dispatch")
    assert {precedence_of(each) for each in rest} == {Precedence.REST}


async def test_a_bot_that_waits_denies_nobody(hall: Room, tmp_path: Path) -> None:
    issue = await hall.write("Do it", "- [ ] one")
    await hall.loop.tick()  # and holds the lease from its first push on
    assert hall.loop.lease.held
    other = elsewhere(hall.context.settings, tmp_path / "other")
    other, told = other.model_copy(update={"sole": False}), list[str]()
    async with bot_service.opened(other, told.append) as second:
        await hall.person.relabel(issue, {"brat"}, set())
        asked = StartRequest(issue=issue, title="Do it", text="", by="mallory")
        second.context.inbox.put("delivery", asked)

        assert await second.tick()

    assert hall.spoken() == []
    assert "brat" in hall.labels(issue)
    assert any("another bot" in each for each in told)


CONFIG = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "echo done > work.txt"]
"""


@pytest.mark.room(CONFIG, text="- [ ] one\n")
async def test_a_run_that_ends_before_its_id_is_noted_is_taken_in_at_once(
    here: Room,
) -> None:
    loop, runs = here.loop, here.forge.store.runs
    here.configure(roles=EVERYBODY, push_gap_s=1000.0)
    EXAMINERS.end()

    async def pause(_: float) -> None:
        await until(lambda: all(run.status == "completed" for run in runs.all()))
        if here.task(1).attempt is not None and not here.task(1).runs:
            assert EXAMINERS.process, "it is loaded before there is work"
            loop.wake.up("runs")  # as the delivery `workflow_run completed` does

    loop.pushes.pause = pause
    await loop.tick()

    assert len(runs.all()) == 1
    assert here.task(1).attempt is None
    assert here.task(1).work is not None


def running(here: Room, branch: str, commit: str) -> int:
    """Let a workflow of the repository's own run on a commit; return its id."""
    store = here.forge.store
    (repo,), now = store.repositories.all(), here.forge.now()
    with store.change():
        run = store.runs.add(
            Run(
                repo=repo.id,
                number=1,
                path=".github/workflows/ci.yml",
                title="ci",
                branch=branch,
                head_sha=commit,
                actor=repo.id,
                inputs={},
                created_at=now,
                updated_at=now,
                event="push",
                status="in_progress",
            )
        )
    return run.id


@pytest.mark.room(text="- [ ] one\n- [ ] two\n")
async def test_a_run_on_a_candidate_that_was_given_up_is_cancelled(here: Room) -> None:
    await here.worked(1, {"one.txt": b"1\n"})
    candidate = here.task(1).candidate
    assert candidate is not None
    queue = ids.queue_branch(ids.base_branch(NAME), candidate.commit)
    judging = running(here, queue, candidate.commit)
    elsewhere = running(here, "main", candidate.commit)
    here.loop.wake.up("checks")
    await here.loop.tick()
    needed = here.forge.store.runs.get(judging)

    await here.do(DropTask(convoy=NAME, task=1, why="no"))
    here.loop.wake.up("checks")
    await here.loop.tick()

    runs = here.forge.store.runs
    assert needed is not None
    assert not needed.cancelling
    assert {run.id for run in runs.all() if run.cancelling} == {judging}
    assert elsewhere in {run.id for run in runs.all()}


# --- a command is acknowledged the moment it arrives ----------------------------------

EYES = "eyes"
A_MINUTE_ON_S = 61.0
"""The pushes before this are no longer counted."""


def reacted(here: Room, comment: int) -> list[str]:
    return [each.content for each in here.forge.store.reactions.of(comment)]


@asynccontextmanager
async def pushing_slowly(here: Room) -> AsyncIterator[None]:
    """Let the loop tick in a world where its pushes are an hour apart."""
    here.configure(push_gap_s=3600.0)

    async def ticking() -> None:
        while True:
            await here.loop.tick()
            await here.loop.wait(again=False)

    async with asyncio.timeout(DEADLINE_S), asyncio.TaskGroup() as group:
        task = group.create_task(ticking())
        yield
        task.cancel()


async def test_eyes_need_no_tick_and_no_lease(tmp_path: Path) -> None:
    seen: list[Exchange] = []
    async with room(
        tmp_path, roles=("mayor",), delivered=True, observe=seen.append
    ) as here:
        await here.loop.release()
        here.context.github.rest.guard = here.loop.lease.check
        comment = await here.person.say(here.issue, "/brat ping")

        await until(lambda: reacted(here, comment) == [EYES])
        here.context.github.rest.guard = lambda: None
        assert not here.loop.lease.held

        await here.until(lambda: reacted(here, comment) == [EYES, "rocket"])
        sent = [each.path for each in seen if each.path.endswith("/reactions")]
        assert [path.split("/")[-2] for path in sent] == [str(comment)] * 2

        again = await here.person.say(here.issue, "/brat ping")
        await here.until(lambda: reacted(here, again) == [EYES, "rocket"])
        assert comment not in here.context.memory.acknowledged, "it waits no longer"


async def test_a_failure_stops_nothing_and_the_tick_reacts_instead(hall: Room) -> None:
    issue = await hall.write("Spell words", "- [ ] one\n")
    faults = Faults(hall.forge.folder)
    faults.refuse("POST", ".*/reactions", 403, "Not now", 2)
    for _ in range(2):
        await hall.person.say(issue, "/brat ping")

    await until(lambda: len(faults.met()) == 2)
    await hall.loop.tick()
    reactions = [each.content for each in hall.forge.store.reactions.all()]
    assert reactions == [*[EYES] * 2, *["rocket"] * 2]


async def test_what_people_wait_for_ends_the_wait_between_pushes(here: Room) -> None:
    await here.said("/brat ping")  # the lease is ours
    here.loop.lease.ticking = lambda: monotonic() + A_MINUTE_ON_S
    async with pushing_slowly(here):
        comment = await here.person.say(here.issue, "/brat pause")

        await until(lambda: reacted(here, comment) == [EYES, "rocket"])
        assert here.convoy_state() == "paused"


@pytest.mark.room(roles=("mayor",))
async def test_a_job_that_stays_hears_people_between_its_pushes(here: Room) -> None:
    here.loop.stays = lambda _: True
    async with pushing_slowly(here):
        comment = await here.person.say(here.issue, "/brat pause")

        await until(lambda: "rocket" in reacted(here, comment))


# --- the loop waits as long as the forge wants, and writes only while it may ----------

SLOW_S = 15.0


async def test_a_paced_group_of_writes_never_outlasts_the_lease(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAT_SECRET_ANTHROPIC_API_KEY", "made-up")
    for number in range(4):
        await labelled(town, REPO, f"Fix {number}")
    now, ages = [1000.0], list[float]()
    async with bot_service.opened(settings(town), lambda _: None) as loop:
        loop.lease.ticking = lambda: now[0]
        send = Wire.send

        async def slow(wire: Wire, ask: Ask, token: str) -> HttpReply:
            if not ask.reads and not ask.url.endswith("/graphql"):
                ages.append(loop.lease.age_s)
                now[0] += SLOW_S
            return await send(wire, ask, token)

        monkeypatch.setattr(Wire, "send", slow)
        for _ in range(20):
            await loop.tick()
            if _all_shown(loop.context.mirror.state):
                break

        assert _all_shown(loop.context.mirror.state)
    assert len(ages) >= 12
    assert max(ages) < TTL_S - SPARE_S
    for number in range(1, 5):
        said = await town.get(f"issues/{number}/comments")
        assert len(said) == 1


def _all_shown(state: State) -> bool:
    convoys = state.convoys.values()
    return len(convoys) == 4 and all(convoy.comment for convoy in convoys)


@pytest.mark.parametrize("reads", [True, False])
async def test_it_asks_again_when_the_forge_said_and_looks_if_only_writes_are_limited(
    town: Town, monkeypatch: pytest.MonkeyPatch, *, reads: bool
) -> None:
    await labelled(town, REPO)
    send = Wire.send

    async def busy(wire: Wire, ask: Ask, token: str) -> HttpReply:
        if ask.reads is reads and "/issues" in ask.url:
            return HttpReply(429, {"retry-after": "1800"}, b"{}")
        return await send(wire, ask, token)

    monkeypatch.setattr(Wire, "send", busy)
    async with bot_service.opened(settings(town), lambda _: None) as loop:
        loop.context.clock = lambda: 1_000_000
        assert await loop.tick()
    troubles = loop.context.troubles
    loop.context.clock = lambda: troubles.resume_at - 1_700_000

    if reads:
        assert loop.retry_s == pytest.approx(1700)
        assert "requests resume at" in troubles["tick"]
        loop.context.clock = lambda: troubles.resume_at
        assert loop.retry_s == RETRY_S
    else:
        assert "tick" not in troubles
        assert loop.retry_s == loop.context.settings.sweep_s


# --- the loop pushes no faster than the forge wants, and waits before it plans --------

MINUTE_PUSHES = 6
COMMENTS = 12


@pytest.mark.room(roles=("mayor",))
async def test_nobody_can_make_the_bot_push_at_will(here: Room) -> None:
    loop, lease, now = here.loop, here.loop.lease, [here.loop.lease.ticking()]
    lease.ticking = lambda: now[0]
    here.configure(push_gap_s=20.0)
    await here.loop.release()
    pushed_at: list[float] = []

    async def pause(seconds: float) -> None:
        pushed_at.append(now[0] - lease.age_s)
        begun = now[0]
        now[0] += min(seconds, 0.5)
        if len(pushed_at) <= COMMENTS:
            comment = await here.person.say(here.issue, "/brat ping")
            said = ping(here.issue, comment, by="you")
            loop.context.inbox.put(f"delivery-{comment}", said)
            loop.wake.keep()
        for _ in range(10):
            await asyncio.sleep(0)  # what may be interrupted ends here
        now[0] = begun + seconds

    loop.pushes.pause = pause
    await here.said("/brat ping")

    gaps = [later - earlier for earlier, later in pairwise(pushed_at)]
    assert len(pushed_at) > COMMENTS
    assert min(gap for gap in gaps if gap) < 20
    assert all(gap >= ASKED_GAP_S - 0.001 for gap in gaps if gap)
    pushes = sorted({*pushed_at})
    for at in pushes:
        assert sum(at <= one < at + MINUTE_S for one in pushes) <= MINUTE_PUSHES


# --- what may have been done is not done again before it had time to show -------------

KEY = "comment:fix-7"


async def test_what_may_have_been_done_is_looked_for_until_it_would_show(
    hall: Room,
) -> None:
    """A look ten seconds after a try is believed."""
    context, now = hall.context, [1_000_000]
    context.settings = context.settings.model_copy(update={"settle_s": 10.0})
    context.clock = lambda: now[0]
    announced = "comment:fix-8"  # just now, so it was not done before
    context.memory.fresh.add(announced)
    another_try(context, announced).repeat()
    assert another_try(context, announced).look

    with pytest.raises(Unsettled):  # another process's try may have been just now
        another_try(context, KEY).repeat()
    now[0] += 10_000
    another_try(context, KEY).repeat()
    quiet_try(context, "denied:9").repeat()

    for begin in (another_try, quiet_try):
        with pytest.raises(Unavailable), trying(context, KEY):
            raise Unavailable("no answer")
        now[0] += 9_999
        with pytest.raises(Unsettled, match="may already be done"):
            begin(context, KEY).repeat()
        now[0] += 1
        begin(context, KEY).repeat()


# --- what the forge refuses -----------------------------------------------------------


def test_what_is_refused_stays_aside_though_another_step_of_it_works() -> None:
    item, aside = "run/1", SetAside(why="not now", at=0, again=True)
    state = State(set_aside={"run/1": aside})
    troubles = Troubles()

    troubles.failed(item, Refused("pull", 403, "not now"), answers=1, now=1)
    troubles.worked(item, state)

    assert troubles.keep_back(item)


async def seconds(loop: Loop, number: int, *, step: int = 5) -> None:
    """Let so many seconds pass by a clock that it is given, with a tick each `step`."""
    for _ in range(0, number, step):
        loop.context.clock = partial(int, loop.context.clock() + step * 1000)
        await loop.tick()


async def test_a_log_that_is_refused_is_tried_once_a_minute(
    hall: Room, tmp_path: Path
) -> None:
    loop, pushes = hall.loop, tmp_path / "pushes"
    issue = await hall.write("Fix it", "Fix it")
    await hall.person.relabel(issue, {"brat"}, set())
    await hall.came()
    noon = loop.context.clock() // DAY_MS * DAY_MS + DAY_MS // 2
    loop.context.clock = lambda: noon  # it is told once a day
    refuses = f"echo no pushes; echo >>{pushes}; false"
    hook = put_hook(hall.bare, "pre-receive", refuses)

    await seconds(loop, 150)

    assert len(pushes.read_text().splitlines()) <= 2 * 3
    assert "no pushes" in loop.context.troubles["tick"]
    loop.context.memory.shown.clear()  # as another process would begin
    await seconds(loop, 150)
    (said,) = hall.spoken()
    assert "no pushes" in said
    assert loop.retry_s > RETRY_S
    assert hall.convoys() == []

    hook.unlink()
    await seconds(loop, 240)
    assert loop.context.troubles == {}
    (convoy,) = hall.convoys()
    assert convoy.state == "active"
