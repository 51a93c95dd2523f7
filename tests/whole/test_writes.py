"""What a convoy costs the forge, and what its checks show, on the local forge."""

from collections import Counter
from pathlib import Path

import pytest

from brat import local
from brat.forge.recording import Exchange
from brat.forge.records import CheckRun
from brat.forge.server import serving
from brat.forge.state import Forge
from brat.registration import FORGE_FOLDER
from tests.whole.crash import LIST, bot, set_up

pytestmark = pytest.mark.timeout(600)
MOST_WRITES = 5
"""A task: dispatch, pull request, its check twice, and CI where it must be started."""


def kind(exchange: Exchange) -> str:
    """Return what a write is for."""
    path = exchange.path
    for part in ("dispatches", "check-runs", "pulls", "statuses"):
        if part in path:
            return part
    return "of the convoy"  # its comment, its labels, its issue


async def test_a_task_costs_few_writes_and_its_checks_tell_its_end(
    tmp_path: Path,
) -> None:
    known = set_up(tmp_path)
    writes = Counter[str]()

    def count(exchange: Exchange) -> None:
        if exchange.method != "GET" and counting:
            writes[kind(exchange)] += 1

    counting = False
    with Forge(tmp_path / FORGE_FOLDER) as forge:
        async with serving(forge, observe=count) as url:
            settings = local.bot_settings(tmp_path, known, url)
            async with local.person(url, known) as github:
                issue = await github.open_issue("Do it", LIST)
                await github.relabel(issue, {"brat"}, set())
            counting = True
            await bot(settings, known, url)
            checks = forge.store.check_runs.all()
            await bot(settings, known, url)  # another process finds all of it shown

        assert forge.store.check_runs.all() == checks
    own = [check for check in checks if check.app == "brat"]
    told = sorted((check.name, check.conclusion, check.output.title) for check in own)
    assert told == [
        ("brat (convoy)", "success", "Landed on main"),
        ("brat (task-1)", "success", "Landed"),
        ("brat (task-2)", "success", "Landed"),
        ("brat (task-3)", "failure", "Sent back"),
        ("brat (task-3)", "success", "Landed"),
    ]
    assert all("/issues/1#issuecomment-" in linked(check) for check in own)
    # Three tasks and the convoy have pull requests; five attempts were dispatched.
    assert writes["dispatches"] == 5
    assert writes["pulls"] == 4
    assert writes["check-runs"] <= 2 * len(own)
    of_tasks = writes.total() - writes["of the convoy"] - 3
    attempts = 5
    assert of_tasks <= MOST_WRITES * attempts


def linked(check: CheckRun) -> str:
    return check.details_url or ""
