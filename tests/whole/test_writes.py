"""What a convoy costs the forge, and what its checks show, on the local forge."""

import re
from collections import Counter
from pathlib import Path

import pytest

from brat.forge.http_server import serving
from brat.forge.resources.forge_records import CheckRun
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository.registration import FORGE_FOLDER
from tests.whole.crash import LIST, bot, losing_machines, set_up
from tests.world.adopted import asked_for
from tests.world.traffic import Exchange, observed
from tests.world.trusting_jobs import trusting_jobs

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]
MOST_WRITES = 5
"""A task: dispatch, pull request, its check twice, and CI where it must be started."""
MORE_WRITES = 3
"""Each further attempt: dispatch, and its own check twice."""


def task_of(exchange: Exchange) -> int | None:
    request, response = exchange.request or {}, exchange.response or {}
    if "dispatches" in exchange.path:
        return int(request["inputs"]["session"].split("/")[1])
    if exchange.path.endswith("/pulls"):
        named = request["head"]
    elif "check-runs" in exchange.path:
        named = response["name"]
    else:
        return None  # the convoy's comment, its labels, its issue
    found = re.search(r"task-([0-9]+)", named)
    return int(found[1]) if found else 0


async def test_a_task_costs_few_writes_and_its_checks_tell_its_end(
    tmp_path: Path,
) -> None:
    known = set_up(tmp_path)
    writes = Counter[int | None]()

    def count(exchange: Exchange) -> None:
        if exchange.method != "GET" and counting:
            writes[task_of(exchange)] += 1

    counting = False
    with trusting_jobs(tmp_path), Forge(tmp_path / FORGE_FOLDER) as forge:
        async with (
            serving(forge, extend=observed(count)) as url,
            losing_machines(tmp_path),
        ):
            settings = local_mode.bot_settings(tmp_path, known, url)
            await asked_for(url, known, "Do it", LIST)
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
    attempts = {1: 1, 2: 2, 3: 2}
    for task, tries in attempts.items():
        assert 1 < writes[task] <= MOST_WRITES + MORE_WRITES * (tries - 1), writes
    assert writes[1] <= MOST_WRITES
    assert writes[0] <= MOST_WRITES


def linked(check: CheckRun) -> str:
    return check.details_url or ""
