"""The loop waits as long as the forge wants, and writes only while it may."""

import asyncio
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from bot.forge.rest import Refused
from bot.forge.transport import Ask, HttpReply, Wire
from bot.loop.loop import Loop
from bot.loop.pushing import ASKED_GAP_S, MINUTE_S, SPARE_S, TTL_S
from bot.roles.bot_context import (
    RETRY_S,
    Troubles,
    Unsettled,
    another_try,
    quiet_try,
    trying,
)
from bot.serving import bot_service
from convoy.events.session_events import DAY_MS
from convoy.model.ids import SetAside
from convoy.model.state import State
from grite.errors import Unavailable
from tests.bot.requests.test_missed_comments import ping, settings
from tests.bot.room import Room
from tests.bot.serving.hosted_town import labelled
from tests.world.forge import REPO, Town
from tests.world.forge_rules import put_hook

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


async def limited(town: Town, monkeypatch: pytest.MonkeyPatch, *, reads: bool) -> Loop:
    """Return a loop that has met a limit, which holds for 1,700 s more."""
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
        now_ms = loop.context.troubles.resume_at - 1_700_000
        loop.context.clock = lambda: now_ms
        return loop


async def test_it_asks_again_when_the_forge_said_and_not_before(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = await limited(town, monkeypatch, reads=True)

    assert loop.retry_s == pytest.approx(1700)
    assert "requests resume at" in loop.context.troubles["tick"]

    loop.context.clock = lambda: loop.context.troubles.resume_at
    assert loop.retry_s == RETRY_S


async def test_where_only_writes_are_limited_it_still_looks(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = await limited(town, monkeypatch, reads=False)

    assert "tick" not in loop.context.troubles
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

    announced = "comment:fix-8"  # just now, so it was not done before
    context.memory.fresh.add(announced)
    another_try(context, announced).repeat()
    assert another_try(context, announced).look


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
