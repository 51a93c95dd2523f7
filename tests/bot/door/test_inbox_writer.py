"""Requests that come together go to the disk together, each with its own answer."""

import asyncio
from pathlib import Path

import pytest

from bot.door.inbox import WRITES_AT_ONCE, Inbox, InboxWriter, StartRequest

ASKED = StartRequest(issue=7, title="Fix it", text="All of it.", by="ann")


async def test_what_comes_meanwhile_shares_a_file(tmp_path: Path) -> None:
    inbox, writer = Inbox(tmp_path), InboxWriter()
    names = [f"delivery-{number}" for number in range(50)]

    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(writer.keep(inbox, name, ASKED))
    await writer.close()

    assert sorted(inbox.requests()) == sorted(names)
    assert _files(tmp_path) == WRITES_AT_ONCE + 1  # the first ones, and all the others


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


def _files(folder: Path) -> int:
    return sum(1 for _ in folder.iterdir())
