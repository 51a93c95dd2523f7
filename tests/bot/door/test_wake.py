from bot.door.inbox import ALL_PARTS, Wake


async def test_everything_is_suspect_at_first() -> None:
    wake = Wake()

    assert wake.take() == ALL_PARTS
    assert wake.take() == frozenset()


async def test_a_hint_ends_the_wait() -> None:
    wake = Wake()
    wake.take()
    wake.up("runs")

    await wake.wait(60)

    assert wake.take() == {"runs"}


async def test_after_a_wait_without_a_hint_everything_is_suspect() -> None:
    wake = Wake()
    wake.take()

    await wake.wait(0.01)

    assert wake.take() == ALL_PARTS


async def test_suspicion_alone_wakes_nobody() -> None:
    wake = Wake()
    wake.take()
    wake.suspect()

    await wake.wait(0.01)

    assert wake.take() == ALL_PARTS


async def test_hints_that_keep_coming_do_not_put_off_the_sweep() -> None:
    now = [0.0]
    wake = Wake(ticking=lambda: now[0])
    wake.take()
    for at, parts in (
        (30.0, {"runs"}),
        (59.0, {"runs"}),
        (60.0, ALL_PARTS),
        (90.0, {"runs"}),
    ):
        now[0] = at
        wake.up("runs")

        await wake.wait(60)

        assert wake.take() == parts
