"""Alert rules and the board ask only for figures and labels that the bot has."""

import json
import re
from collections.abc import Iterable

from prometheus_client.metrics_core import Metric
from ruamel.yaml import YAML

from bot.serving.host import hosted
from tests.bot.serving.hosted_town import hosting
from tests.documents.pages import ROOT
from tests.world.forge import Town

FOLDER = ROOT / "deploy/monitoring"


def expressions() -> list[str]:
    rules = YAML(typ="safe").load((FOLDER / "alerts.yaml").read_text("utf-8"))
    board = json.loads((FOLDER / "board.json").read_text("utf-8"))
    alerts = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    shown = [each["expr"] for panel in board["panels"] for each in panel["targets"]]
    return [*alerts, *shown]


def names(families: Iterable[Metric]) -> set[str]:
    """Return what a scrape shows, a counter with its suffix."""
    return {
        family.name + ("_total" if family.type == "counter" else "")
        for family in families
    }


async def test_every_figure_of_the_rules_and_the_board_is_one_of_a_running_bot(
    here: Town,
) -> None:
    asked = set(re.findall(r"\bbrat_\w+", "\n".join(expressions())))

    async with hosted(hosting(here, sweep_s=3600), lambda _: None) as host:
        there = names(host.metrics.registry.collect())

    assert asked - there == set()
    shown = {name.removesuffix("_total") for name in asked}
    assert {"brat_tasks", "brat_attempts", "brat_interventions"} <= shown


def test_every_alert_says_what_to_do() -> None:
    rules = YAML(typ="safe").load((FOLDER / "alerts.yaml").read_text("utf-8"))

    for rule in (each for group in rules["groups"] for each in group["rules"]):
        assert set(rule["annotations"]) == {"summary", "do"}, rule["alert"]
        assert rule["labels"]["severity"] in {"page", "ticket"}
