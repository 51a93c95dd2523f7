"""What people say reaches a session that listens; the log says how much of it."""

import asyncio
from pathlib import Path

from convoy.events.people_events import TaskTold
from tests.feed.hall import SESSION, Hall, hall, running
from tests.world.patience import patient
from tests.world.rules import NAME

DEADLINE_S = patient(20)


def still() -> float:
    """Be a clock that stands: nothing that waits by it gives up."""
    return 0.0


def tell(text: str) -> TaskTold:
    return TaskTold(convoy=NAME, task=1, by="bea", text=text)


async def test_messages_are_numbered_and_waited_for(tmp_path: Path) -> None:
    rules = running()
    async with hall(tmp_path, rules, clock=still) as here:
        none = await here.send("GET", "messages")
        rules.do(tell("First."))
        async with asyncio.timeout(DEADLINE_S), asyncio.TaskGroup() as group:
            asking = group.create_task(
                here.send("GET", "messages?after=1&wait_s=9"), name="asks"
            )
            first = await here.send("GET", "messages?after=0&wait_s=9")
            rules.do(tell("Second."))

    assert none.json() == {"messages": []}
    assert first.json()["messages"] == [{"number": 1, "by": "bea", "text": "First."}]
    told = [{"number": 2, "by": "bea", "text": "Second."}]
    assert asking.result().json()["messages"] == told


async def test_the_log_is_told_once_what_was_heard(here: Hall) -> None:
    here.rules.do(tell("First."), tell("Second."))
    silent = here.feed.listens(SESSION)
    for heard in ("1", "1", "9", "-1", "x", "1" * 5000):
        await here.send("GET", f"messages?after=2&heard={heard}")
    owed = [*here.feed.owed()]
    here.rules.do(*owed)
    again = [*here.feed.owed()]
    await here.send("GET", "messages?after=2&heard=1")

    assert (silent, here.feed.listens(SESSION)) == (False, True)
    assert [each.messages for each in owed] == [1]
    assert again == [*here.feed.owed()] == []
    assert len(here.bells) == 1


async def test_nobody_waits_for_a_session_that_has_ended(tmp_path: Path) -> None:
    async with (
        hall(tmp_path, running(), clock=still) as here,
        asyncio.timeout(DEADLINE_S),
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(here.send("GET", "messages?wait_s=20"))
        while not here.feed.listens(SESSION):  # noqa: ASYNC110  asked over HTTP
            await asyncio.sleep(0.01)
        here.rules.lost(1, "gone")

    assert asking.result().json() == {"messages": []}
