"""When a schedule's time has come: a rule of the names and the clock alone."""

from hypothesis import given, strategies as st

from convoy.config import WINDOW_MS, due
from convoy.model.ids import HOUR_MS

NOON = 1_700_000_000_000
names = st.from_regex(r"[a-z0-9][a-z0-9-]{0,9}", fullmatch=True)


@given(names, names, st.integers(1, 500), st.integers(0, 2**42))
def test_it_is_due_once_a_period_and_for_an_hour(
    name: str, repository: str, hours: int, now: int
) -> None:
    def begun(at: int) -> set[int]:
        return {each.begun for each in due({name: hours}, repository, at)}

    period = hours * HOUR_MS
    found = set[int]()
    for at in range(now, now + period, HOUR_MS):
        found |= begun(at)
    assert len(found) in {1, 2}  # the second begins where the first look began
    first = min(found)
    assert begun(first) == begun(first + WINDOW_MS - 1) == {first}
    if hours > 1:
        assert begun(first + WINDOW_MS) == begun(first - 1) == set()
    assert begun(first + period) == {first + period}


def test_two_repositories_do_not_want_it_at_the_same_moment() -> None:
    week = {"weekly": 168}
    looks = [NOON + hour * HOUR_MS for hour in range(168)]

    hours = {
        next(at for at in looks if due(week, f"octo/r{number}", at))
        for number in range(60)
    }

    assert len(hours) > 30
    for at in looks:  # the case of a name does not matter
        assert due(week, "Octo/App", at) == due(week, "octo/app", at)
