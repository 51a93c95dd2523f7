"""What another attempt would only repeat costs one attempt, and the work is kept."""

import re
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


HEAPED = """
my-agent < $BRAT_PROMPT
mkdir -p data
head -c 120000000 /dev/urandom > data/heap.bin
"""


def test_work_that_is_too_large_costs_one_attempt_and_the_rest_is_kept(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, engine(HEAPED))

    said = terminal.type(START)

    assert said.status == 1
    task = only_task(terminal)
    assert (task["state"], task["attempts"]) == ("blocked", 1)
    (told,) = [line for line in said.lines if "task 1 is blocked: " in line]
    assert "most of them in data/heap.bin (120000000 bytes)" in told
    assert "; 80000000 can be kept. The rest is kept without data/heap.bin." in told
    (kept,) = re.findall(r"What could be kept is at (refs/grite/attempts/\S+)\.", told)
    files = look(terminal.cwd / ".git/brat").git("ls-tree", "-r", "--name-only", kept)
    assert "words/task_1.py" in files.split()
    assert "data/heap.bin" not in files.split()


@pytest.mark.layer("landing")
def test_the_same_refusal_twice_ends_the_attempts(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("echo '# Mine' > AGENTS.md"))

    said = terminal.type(START)

    assert said.status == 1
    task = only_task(terminal)
    assert (task["state"], task["attempts"]) == ("blocked", 2)
    alike = "two attempts were refused alike: The patch touches a protected path"
    assert any(alike in line for line in said.lines)
