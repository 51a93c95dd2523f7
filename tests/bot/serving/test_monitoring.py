"""Alert rules and the board ask only for figures and labels that the bot has."""

import json
import re

from ruamel.yaml import YAML

from bot.serving.host import hosted
from bot.serving.service_metrics import RepositoryStanding, ServiceMetrics
from convoy.model.records import Usage
from convoy.rules.ending import LoseSession
from convoy.rules.landing import FailMerge
from convoy.rules.people import DropTask
from convoy.rules.retries import RetryTask
from tests.bot.serving.hosted_town import hosting
from tests.documents.pages import ROOT
from tests.world.forge import Town
from tests.world.rules import NAME, Rules, made, sha, spec

FOLDER = ROOT / "deploy/monitoring"


async def test_every_figure_of_the_rules_and_the_board_is_one_of_a_running_bot(
    here: Town,
) -> None:
    rules = YAML(typ="safe").load((FOLDER / "alerts.yaml").read_text("utf-8"))
    board = json.loads((FOLDER / "board.json").read_text("utf-8"))
    alerts = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    drawn = [each["expr"] for panel in board["panels"] for each in panel["targets"]]
    asked = set(re.findall(r"\bbrat_\w+", "\n".join([*alerts, *drawn])))

    async with hosted(hosting(here, sweep_s=3600), lambda _: None) as host:
        families = [*host.metrics.registry.collect()]

    suffixes = {"counter": "_total"}  # as a scrape shows it
    assert asked <= {each.name + suffixes.get(each.type, "") for each in families}
    shown = {name.removesuffix("_total") for name in asked}
    assert {"brat_tasks", "brat_attempts", "brat_interventions"} <= shown


# --- what is counted of a repository's log --------------------------------------------

REPO = "pat/project"


def story() -> Rules:
    """Two attempts, three candidates, one landing, one task given up by a person."""
    rules = Rules().planned(spec(1), spec(2))
    rules.started(1).accepted(1, sha("a")).offered(1, sha("b"), sha("0"))
    red = made(FailMerge, candidate=sha("b"), cause="red")
    rules.do(red).landed(1, sha("c")).started(2)
    usage = Usage(input_tokens=7, cached_tokens=5, output_tokens=3, usd=0.25)
    rules.do(made(LoseSession, task=2, cause="lost", usage=usage)).blocked(2, "no CI")
    rules.do(RetryTask(convoy=NAME, task=2, by="ann")).blocked(2, "no CI")
    rules.do(DropTask(convoy=NAME, task=2, why="enough"))
    return rules


def value(metrics: ServiceMetrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, {"repository": REPO, **labels})


def test_what_happened_is_counted_and_what_is_so_now_is_looked_up() -> None:
    rules = story()
    now = RepositoryStanding(state=rules.state, calls_left=4321)
    still = {REPO: "", "pat/stuck": "the forge refuses the log"}
    metrics = ServiceMetrics(lambda: {REPO: now}, lambda: still, lambda: rules.now)
    for fact in rules.facts:
        metrics.note(REPO, fact)
    metrics.log_commits[REPO] = 9

    for outcome, count in (("handed in", 2), ("lost", 1)):
        labels = {"engine": "shell", "outcome": outcome}
        assert value(metrics, "brat_attempts_total", **labels) == count
    assert value(metrics, "brat_candidates_total") == 2
    assert value(metrics, "brat_landed_total") == 1
    for state in ("merged", "dropped"):
        assert value(metrics, "brat_tasks", state=state) == 1
    assert value(metrics, "brat_set_aside") == 0
    assert value(metrics, "brat_convoys", state=rules.convoy.state) == 1
    assert value(metrics, "brat_tokens_total", kind="cached") == 5
    assert value(metrics, "brat_dollars_total") == 0.25
    assert value(metrics, "brat_forge_calls_left") == 4321
    assert value(metrics, "brat_log_commits") == 9
    assert value(metrics, "brat_repository_standing_still") == 0
    assert value(metrics, "brat_repository_standing_still", repository="pat/stuck") == 1
