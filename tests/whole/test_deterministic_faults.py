"""What another attempt would only repeat costs one attempt, and the work is kept."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from tests.world.seen import look
from tests.world.terminal import Terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(600)
START = "brat mayor start --task 'Spell words' --headless"


def only_task(terminal: Terminal) -> dict[str, Any]:
    (convoy,) = json.decode(terminal.type("brat status --json").out)["convoys"]
    (task,) = convoy["tasks"]
    return dict(task)


def test_a_ci_command_that_is_not_found_charges_no_task(tmp_path: Path) -> None:
    ci = '[ci]\ncommand = "true && my-tester"\n'
    terminal = project(tmp_path, engine("my-agent < $BRAT_PROMPT", ci))

    said = terminal.type(START)

    assert said.status == 1
    told = "`true && my-tester` ended with 127, a program was not found: sh: "
    (aside,) = [line for line in said.lines if "is set aside" in line]
    assert told in aside
    task = only_task(terminal)
    assert (task["state"], task["attempts"]) == ("needs-review", 1)

    terminal.install("my-tester", "exec true")
    (retry,) = said.after("  once that is put right: ")
    terminal.done(retry)
    mended = terminal.type("brat refinery run")

    assert mended.status == 0, mended.err
    task = only_task(terminal)
    assert (task["state"], task["attempts"]) == ("merged", 1)
    assert look(terminal.cwd / ".git/brat").faults == []
