"""A bell with a memory."""

import asyncio

from bot.wake import ALL, Wake


def test_a_new_bot_looks_at_everything_once() -> None:
    wake = Wake()

    assert wake.take() == ALL
    assert wake.take() == frozenset()


def test_what_was_said_before_the_wait_is_not_lost() -> None:
    wake = Wake()
    wake.take()

    wake.up("runs")
    wake.up("runs")
    wake.up("checks")

    assert wake.take() == {"runs", "checks"}


async def test_a_call_ends_the_wait() -> None:
    wake = Wake()
    wake.take()

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        waiting = group.create_task(wake.wait(60))
        wake.up("refs")
        await waiting

    assert wake.take() == {"refs"}


async def test_a_call_before_the_wait_ends_it_at_once() -> None:
    wake = Wake()
    wake.take()
    wake.up("issues")

    async with asyncio.timeout(5):
        await wake.wait(60)

    assert wake.take() == {"issues"}


async def test_when_nobody_calls_everything_is_suspect() -> None:
    wake = Wake()
    wake.take()

    await wake.wait(0)

    assert wake.take() == ALL
