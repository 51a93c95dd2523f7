"""When a convoy will be done, judged by its own sessions."""

from collections.abc import Sequence
from typing import Literal

from convoy.model.records import EngineSpec
from convoy.rules.people import BlockTask
from convoy.views.estimates import (
    GAMES,
    STEPS,
    Finish,
    finish,
    finish_words,
    known_times,
    rest_played,
)
from convoy.views.history import PastSession
from tests.world.rules import NAME, Rules, sha, spec


def took(
    number: int,
    seconds: int,
    landing: int = 10,
    how: Literal["landed", "lost"] = "landed",
) -> PastSession:
    """Return a session that took this long, and landed so much later or never."""
    begun = 1_000_000 * number
    ended = begun + 1000 * seconds
    return PastSession(
        task=number,
        attempt=1,
        engine="shell",
        begun=begun,
        ended=ended,
        landed=ended + 1000 * landing if how == "landed" else 0,
        how=how,
    )


TWO = (took(1, 60), took(2, 60))


def left(rules: Rules, sessions: Sequence[PastSession]) -> Finish:
    found = finish(rules.convoy, sessions, rules.now)
    assert found is not None
    assert found.soonest < found.likely < found.latest
    return found


def slots(count: int) -> dict[str, EngineSpec]:
    engine = EngineSpec(type="shell", args=("true",), max_sessions=count)
    return {"default": engine}


def test_a_chain_is_as_long_as_its_tasks_after_one_another() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3, after=(2,))).landed(1, sha("a"))

    found = left(rules, TWO)

    assert 140 <= found.likely <= 150
    assert finish_words(found).startswith("about 2 min left (")


def test_what_is_side_by_side_is_shared_by_the_slots_for_agents() -> None:
    tasks = [spec(number) for number in range(1, 11)]
    one = Rules().planned(*tasks, engines=slots(1)).landed(1, sha("a"))
    three = Rules().planned(*tasks, engines=slots(3)).landed(1, sha("a"))

    alone, shared = left(one, TWO), left(three, TWO)

    assert 9 * 60 <= alone.likely <= 10 * 60 + 20
    assert 3 * 60 <= shared.likely <= 4 * 60 + 20


def test_tasks_that_touch_the_same_files_are_foreseen_one_after_another() -> None:
    apart = [spec(n, paths=(f"{n}.py",)) for n in range(1, 6)]
    same = [spec(n, paths=("a.py",)) for n in range(1, 6)]

    found = [
        left(Rules().planned(*each).landed(1, sha("a")), TWO).likely
        for each in (apart, same)
    ]

    assert found[0] < 2 * 60 + 40 < 4 * 60 <= found[1]


def test_work_lands_no_faster_than_it_did_one_after_another() -> None:
    rules = Rules().planned(*map(spec, range(1, 11))).landed(1, sha("a"))

    found = left(rules, [took(n, 10, landing=100) for n in (1, 2)])

    assert 9 * 100 <= found.likely <= 10 * 100 + 120


def test_work_that_was_done_again_is_expected_to_be_done_again() -> None:
    rules = Rules().planned(*map(spec, range(1, 5))).landed(1, sha("a"))
    smooth = [took(n, 60) for n in (1, 2, 3, 4)]
    rough = [*TWO, *(took(n, 60, how="lost") for n in (3, 4, 5))]

    assert left(rules, rough).likely > left(rules, smooth).likely + 50


def test_what_runs_counts_by_what_is_left_of_it() -> None:
    rules = Rules().planned(spec(1), spec(2)).landed(1, sha("a")).started(2)
    attempt = rules.task(2).attempt
    assert attempt is not None
    rules.now = attempt.at + 45_000

    assert 15 + 10 <= left(rules, TWO).likely <= 15 + 10 + 10


def test_what_waits_for_a_person_is_left_out_and_said() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3)).landed(1, sha("a"))
    rules.do(BlockTask(convoy=NAME, task=2, why="no CI"))

    found = left(rules, TWO)

    assert 70 <= found.likely <= 80
    assert found.waits == 1
    assert finish_words(found).endswith(", beside 1 task waiting for you")


def test_where_nothing_is_known_nothing_is_said() -> None:
    rules = Rules().planned(spec(1), spec(2))

    assert finish(rules.convoy, [], rules.now) is None
    assert finish(rules.convoy, TWO[:1], rules.now) is None
    rules.landed(1, sha("a")).landed(2, sha("b"))
    assert finish(rules.convoy, TWO, rules.now) is None


def test_the_same_state_always_says_the_same_and_a_large_convoy_is_played_less() -> (
    None
):
    chain = [spec(n, after=(n - 1,) if n > 1 else ()) for n in range(1, 401)]
    rules = Rules().planned(*chain)
    sessions = [took(n, 30 * n) for n in (1, 2, 3)]
    past = known_times(sessions)
    assert past is not None

    found = [rest_played(rules.convoy, sessions, past, rules.now) for _ in range(2)]

    assert found[0] == found[1]
    assert len(found[0]) == STEPS // 400 < GAMES
