from convoy.views.analytics import analytics, analytics_summary, engine_costs, stages_ms
from convoy.views.history import ChangeHistory
from tests.world.rules import NAME, Rules, sha, spec


def told(rules: Rules) -> ChangeHistory:
    history = ChangeHistory()
    for at, fact in enumerate(rules.facts, start=1):
        history.read(1000 * at, fact)
    return history


def test_each_change_is_counted_once_with_its_stages() -> None:
    found = analytics(told(Rules().planned(spec(1))))  # before anything has landed
    assert (found.changes, found.stages, found.per_day) == (0, {}, ())
    assert analytics_summary(found) == "no change has landed"

    rules = Rules().planned(spec(1), spec(2), spec(3))
    history = told(rules.landed(1, sha("a")).landed(2, sha("b")).started(3))

    found = analytics(history)

    assert (found.changes, found.sessions, found.ci_runs, found.dropped) == (2, 2, 2, 0)
    assert [one.percent for one in found.engines] == [100]
    assert [one.sessions for one in engine_costs(history, 0)] == [2]
    assert set(found.stages) == {"waiting", "working", "landing"}
    first = history.changes[NAME, 1]
    assert sum(stages_ms(first)) == first.ended - first.planned
    assert [sum(one.buckets) for one in found.stages.values()] == [2, 2, 2]
    assert [one.ci_s for one in found.engines] == [2.0]
    assert found.per_day == (("1970-01-01", 2),)
    assert analytics_summary(found).startswith(
        "2 changes landed in 1 day, with 1.00 sessions"
    )


def test_a_change_that_went_back_is_no_first_try_and_an_answer_is_timed() -> None:
    rules = Rules().planned(spec(1)).started(1).refused(1, "refused")
    history = told(rules.blocked(1, "no CI").retried(1).landed(1, sha("a")))
    found = analytics(history)

    assert [(one.first_try, one.sessions) for one in found.engines] == [(0, 2)]
    assert found.rework == (("refused", 1), ("retry", 1))
    assert history.asked == {"blocked task": [1000]}
    assert found.asked["blocked task"].count == 1
