"""What is counted of a repository's log."""

from bot.serving.service_metrics import RepositoryStanding, ServiceMetrics
from convoy.model.records import Usage
from convoy.rules.ending import LoseSession
from convoy.rules.landing import FailMerge
from convoy.rules.people import BlockTask, DropTask, RetryTask
from tests.world.rules import NAME, Rules, sha, spec

REPO = "pat/project"


def story() -> Rules:
    """Two attempts, three candidates, one landing, one task given up by a person."""
    rules = Rules().planned(spec(1), spec(2))
    rules.started(1).accepted(1, sha("a")).offered(1, sha("b"), sha("0"))
    red = FailMerge(convoy=NAME, task=1, candidate=sha("b"), cause="red", why="red")
    rules.do(red).landed(1, sha("c")).started(2)
    usage = Usage(input_tokens=7, cached_tokens=5, output_tokens=3, usd=0.25)
    rules.do(
        LoseSession(
            convoy=NAME, task=2, attempt=1, cause="lost", why="died", usage=usage
        ),
        BlockTask(convoy=NAME, task=2, why="no CI"),
        RetryTask(convoy=NAME, task=2, by="ann"),
        BlockTask(convoy=NAME, task=2, why="no CI"),
        DropTask(convoy=NAME, task=2, why="enough"),
    )
    return rules


def test_attempts_candidates_and_landings_are_counted() -> None:
    rules = story()
    metrics = ServiceMetrics(dict, dict, lambda: rules.now)
    for fact in rules.facts:
        metrics.note(REPO, fact)

    def value(name: str, **labels: str) -> float | None:
        return metrics.registry.get_sample_value(name, {"repository": REPO, **labels})

    assert value("brat_attempts_total", engine="shell", outcome="handed in") == 2
    assert value("brat_attempts_total", engine="shell", outcome="lost") == 1
    assert (value("brat_candidates_total"), value("brat_landed_total")) == (2, 1)


def test_what_is_so_now_is_looked_up() -> None:
    rules = story()
    now = RepositoryStanding(state=rules.state, calls_left=4321, log_commits=9)
    still = {REPO: "", "pat/stuck": "the forge refuses the log"}
    metrics = ServiceMetrics(lambda: {REPO: now}, lambda: still, lambda: rules.now)

    def value(name: str, **labels: str) -> float | None:
        return metrics.registry.get_sample_value(name, {"repository": REPO, **labels})

    assert value("brat_tasks", state="merged") == 1
    assert value("brat_set_aside") == 0
    assert value("brat_tasks", state="dropped") == 1
    assert value("brat_convoys", state=rules.convoy.state) == 1
    assert value("brat_tokens_total", kind="cached") == 5
    assert value("brat_dollars_total") == 0.25
    assert value("brat_forge_calls_left") == 4321
    assert value("brat_log_commits") == 9
    assert value("brat_repository_standing_still") == 0
    assert value("brat_repository_standing_still", repository="pat/stuck") == 1


def test_deliveries_and_rounds_are_counted() -> None:
    metrics = ServiceMetrics(dict, dict, lambda: 0)
    metrics.answered("issues", 202)
    metrics.answered("issues", 202)
    metrics.ticked(REPO, cut_short=True)

    shown = metrics.text().decode()

    assert 'brat_deliveries_total{event="issues",status="202"} 2.0' in shown
    assert f'brat_ticks_total{{outcome="cut short",repository="{REPO}"}} 1.0' in shown
