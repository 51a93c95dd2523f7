"""When a convoy will be done, judged by its own sessions."""

from collections.abc import Sequence

from convoy.rules.stop_task import BlockTask
from convoy.views.finish_estimate import Finish, finish, said
from convoy.views.session_history import Past
from tests.world.rules import NAME, Rules, sha, spec


def took(task: int, seconds: int, begun: int = 0, landing: int = 10) -> Past:
    """Return a session that took this long, and landed so much later."""
    ended = begun + 1000 * seconds
    return Past(
        task=task,
        attempt=1,
        engine="shell",
        begun=begun,
        ended=ended,
        landed=ended + 1000 * landing,
        how="landed",
    )


def left(rules: Rules, sessions: Sequence[Past]) -> Finish:
    found = finish(rules.convoy, sessions, rules.now)
    assert found is not None
    return found


def test_a_chain_is_as_long_as_its_tasks_after_one_another() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3, after=(2,))).landed(1, sha("a"))

    found = left(rules, [took(1, 60)])

    assert (found.soonest, found.likely, found.latest) == (140, 140, 140)
    assert said(found) == "about 2 min left"


def test_what_is_side_by_side_is_shared_by_the_agents() -> None:
    rules = Rules().planned(*map(spec, range(1, 11))).landed(1, sha("a"))
    alone = left(rules, [took(1, 60)])
    two = left(rules, [took(1, 60), took(2, 60)])

    assert (alone.likely, two.likely) == (9 * 60 + 10, 9 * 30 + 10)


def test_the_range_is_what_eight_in_ten_sessions_took() -> None:
    rules = Rules().planned(*map(spec, range(1, 12)))
    for number in range(1, 11):
        rules.landed(number, sha(f"{number:x}"))
    sessions = [took(n, 10 * n, begun=1_000_000 * n) for n in range(1, 11)]

    found = left(rules, sessions)

    assert round(found.soonest) == 19 + 10
    assert round(found.likely) == 55 + 10
    assert round(found.latest) == 91 + 10
    assert said(found) == "about 65 s left (29 s to 101 s)"


def test_what_runs_counts_by_what_is_left_of_it() -> None:
    rules = Rules().planned(spec(1), spec(2)).landed(1, sha("a")).started(2)
    attempt = rules.task(2).attempt
    assert attempt is not None
    rules.now = attempt.at + 45_000

    assert left(rules, [took(1, 60)]).likely == 15 + 10


def test_what_waits_for_a_person_is_left_out_and_said() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3)).landed(1, sha("a"))
    rules.do(BlockTask(convoy=NAME, task=2, why="no CI"))

    found = left(rules, [took(1, 60)])

    assert (found.likely, found.waits) == (70, 1)
    assert said(found).endswith(", beside 1 task waiting for you")


def test_where_nothing_is_known_nothing_is_said() -> None:
    rules = Rules().planned(spec(1), spec(2))

    assert finish(rules.convoy, [], rules.now) is None
    rules.landed(1, sha("a")).landed(2, sha("b"))
    assert finish(rules.convoy, [took(1, 60)], rules.now) is None
