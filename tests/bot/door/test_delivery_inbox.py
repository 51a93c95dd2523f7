"""What deliveries asked for, in a folder that outlives the bot."""

import asyncio
import os
from pathlib import Path

import pytest

from bot.door.inbox import (
    ALL_PARTS,
    UNREADABLE,
    WRITES_AT_ONCE,
    Inbox,
    InboxWriter,
    Wake,
)
from tests.bot.door_client import ASKED, GUID


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "bot" / "inbox"


@pytest.fixture
def inbox(folder: Path) -> Inbox:
    return Inbox(folder)


BROKEN = {
    "of a newer version": b'{"x":{"type":"later"}}',
    "cut off": b'{"x":{"type":"labelled","issue":7',
    "empty": b"",
    "no object": b"[1]",
    "no text": b'{"x":{"type":"labelled","title":"\xff\xfe"}}',
}


def test_a_file_that_cannot_be_read_is_set_aside_by_name_and_the_rest_goes_on(
    inbox: Inbox, folder: Path
) -> None:
    for name, content in BROKEN.items():
        (folder / f"0-{name}.json").write_bytes(content)
    inbox.put(GUID, ASKED)

    assert inbox.requests() == {GUID: ASKED}
    assert inbox.remarks() == {}
    assert len(inbox.notices) == len(BROKEN)
    for name, content in BROKEN.items():
        aside = folder / f"0-{name}.json{UNREADABLE}"
        assert aside.read_bytes() == content
        assert any(str(aside) in notice for notice in inbox.notices), name
    assert Inbox(folder).requests() == {GUID: ASKED}


def test_the_same_delivery_again_is_one_request_until_it_is_done(inbox: Inbox) -> None:
    inbox.put(GUID, ASKED)
    inbox.put(GUID, ASKED)
    assert inbox.requests() == {GUID: ASKED}

    inbox.put(GUID, ASKED)  # while the first is done
    inbox.done(GUID)
    assert inbox.requests() == {GUID: ASKED}
    inbox.done(GUID)
    inbox.done(GUID)

    assert inbox.requests() == {}


def test_what_came_together_is_done_one_by_one(inbox: Inbox, folder: Path) -> None:
    inbox.put_all({"a": ASKED, "b": ASKED})
    assert len([*folder.iterdir()]) == 1
    assert [*inbox.requests()] == ["a", "b"]

    inbox.done("a")

    assert [*inbox.requests()] == ["b"]
    assert [*Inbox(folder).requests()] == ["a", "b"]  # as after a crash: twice is once
    inbox.done("b")
    assert [*folder.iterdir()] == []


def test_what_was_not_finished_when_the_bot_died_is_not_read(
    inbox: Inbox, folder: Path
) -> None:
    cut_off = folder / f".{GUID}.x"
    cut_off.write_bytes(b'{"issue":7,"ti')
    assert inbox.requests() == {}

    inbox.put(GUID, ASKED)

    assert inbox.requests() == {GUID: ASKED}
    os.utime(cut_off, (0, 0))
    Inbox(folder)
    assert not cut_off.exists()


# --- requests that come together go to the disk together, each with its own answer ----


async def test_what_comes_meanwhile_shares_a_file(tmp_path: Path) -> None:
    inbox, writer = Inbox(tmp_path), InboxWriter()
    names = [f"delivery-{number}" for number in range(50)]

    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(writer.keep(inbox, name, ASKED))
    await writer.close()

    assert sorted(inbox.requests()) == sorted(names)
    # The first ones have a file each, and all the others one.
    assert await asyncio.to_thread(lambda: len([*tmp_path.iterdir()])) == (
        WRITES_AT_ONCE + 1
    )


async def test_one_that_cannot_be_kept_spoils_no_other(tmp_path: Path) -> None:
    here, gone, writer = Inbox(tmp_path / "a"), Inbox(tmp_path / "b"), InboxWriter()
    (tmp_path / "b").rmdir()

    async with asyncio.TaskGroup() as group:
        kept = [group.create_task(writer.keep(here, f"{n}", ASKED)) for n in range(9)]
        with pytest.raises(OSError, match="No such file"):
            await writer.keep(gone, "x", ASKED)
        with pytest.raises(ValueError, match="not a delivery id"):
            await writer.keep(here, "../x", ASKED)
    await writer.close()

    assert all(task.exception() is None for task in kept)
    assert len(here.requests()) == 9


async def test_who_has_gone_leaves_the_request(tmp_path: Path) -> None:
    inbox, writer = Inbox(tmp_path), InboxWriter()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(writer.keep(inbox, "a", ASKED))
        await asyncio.sleep(0)
        task.cancel()
    await writer.close()
    await asyncio.sleep(0)

    assert [*inbox.requests()] == ["a"]


# --- what wakes the loop --------------------------------------------------------------


async def test_everything_is_suspect_but_after_a_hint() -> None:
    wake = Wake()
    assert wake.take() == ALL_PARTS
    assert wake.take() == frozenset()

    wake.up("runs")
    await wake.wait(60)
    assert wake.take() == {"runs"}, "a hint ends the wait"

    await wake.wait(0.01)
    assert wake.take() == ALL_PARTS

    wake.suspect()
    await wake.wait(0.01)
    assert wake.take() == ALL_PARTS, "suspicion alone wakes nobody"


async def test_hints_that_keep_coming_do_not_put_off_the_sweep() -> None:
    now = [0.0]
    wake = Wake(ticking=lambda: now[0])
    wake.take()
    for at in (30.0, 59.0, 60.0, 90.0):
        now[0] = at
        wake.up("runs")

        await wake.wait(60)

        assert wake.take() == (ALL_PARTS if at == 60 else {"runs"})
