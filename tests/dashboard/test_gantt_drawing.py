"""The estimated end stands where it is, and never squeezes what happened."""

import pytest

from bot.dashboard.drawings import Gantt, draw_gantt
from convoy.views.estimates import Finish
from convoy.views.history import PastSession
from tests.world.rules import Rules, spec

BEGUN, MINUTE = 1_000_000, 60_000


def drawn(soonest: float, likely: float, latest: float) -> Gantt:
    """Draw a convoy that has gone on for ten minutes; its end comes in minutes."""
    ends = (60 * each for each in (soonest, likely, latest))
    low, middle, high = ends
    finish = Finish(soonest=low, likely=middle, latest=high, waits=0)
    running = PastSession(task=1, attempt=1, engine="codex", begun=BEGUN)
    convoy = Rules().planned(spec(1)).started(1).convoy
    return draw_gantt(convoy, (running,), BEGUN + 10 * MINUTE, finish)


def test_an_end_that_is_near_has_its_range() -> None:
    chart = drawn(5, 10, 10)

    assert chart.now == 50
    assert chart.band is not None
    assert (chart.band.x, chart.band.width, chart.band.likely) == (75, 25, 100)


@pytest.mark.parametrize(("latest", "likely"), [(40, 60), (90, None)])
def test_a_range_may_end_beyond_the_axis(latest: int, likely: float | None) -> None:
    chart = drawn(20, 20 if likely else 50, latest)

    assert chart.now == 20
    assert chart.band is not None
    assert (chart.band.x, chart.band.width, chart.band.likely) == (60, 40, likely)


def test_an_end_that_is_far_off_is_not_drawn() -> None:
    chart = drawn(600, 700, 800)

    assert chart.band is None
    assert chart.now == 80
