"""The CLI on a forge that slows it down: it waits as told, and everything lands."""

from pathlib import Path
from typing import get_args

import pytest
from msgspec import json

from tests.world.extended import extended, forge_folder
from tests.world.github_forge.rate_limits import Allowance, Limiting, counted, limit
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(300)

START = "brat mayor start --task 'Spell words'"
MOST_STEPS = 2


@pytest.mark.parametrize("status", get_args(Limiting))
def test_a_convoy_lands_although_little_may_be_written_a_minute(
    tmp_path: Path, status: Limiting
) -> None:
    terminal = extended(project(tmp_path, engine("echo hi > hi.txt")))
    terminal.done("brat init")
    forge = forge_folder(terminal)
    little = Allowance(
        content_a_minute=2, minute_s=2.0, status=status, content_spent=True
    )
    limit(forge, little)

    terminal.done(START)
    for _ in range(MOST_STEPS):
        terminal.done("brat witness run")
        terminal.done("brat refinery run")

    shown = json.decode(terminal.done("brat status --json"))
    (convoy,) = shown["convoys"]
    assert [task["state"] for task in convoy["tasks"]] == ["merged"]
    writes = counted(forge)
    refused = [one for one in writes if one.wait_s]
    assert refused, writes
    for one in refused:
        early = [
            other
            for other in writes
            if other.user == one.user and one.at < other.at < one.at + one.wait_s
        ]
        assert early == []
