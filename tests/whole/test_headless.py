"""`brat mayor start --headless` as the only command of a job: its exit statuses."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from tests.world.extended import extended
from tests.world.forge_rules import checks, pull_request, put_ruleset
from tests.world.local_rules import ask, at_rest, registered
from tests.world.second_reader import rows
from tests.world.staying import staying
from tests.world.terminal import Terminal, left_running
from tests.world.words import engine, project

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]

FAILING = engine("echo I give up >&2; exit 3", "[witness]\nattempts = 1\n")


HEADLESS = "brat mayor start --task 'Spell words' --headless"


def kinds_of_facts(terminal: Terminal) -> set[str]:
    bare = terminal.cwd / ".git/brat/forge/repos/pat-person/project.git"
    return {row.fact["type"] for row in rows(bare) if row.fact}


def test_0_when_all_is_merged_with_a_configuration_that_is_not_committed(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, None)
    config = terminal.cwd / ".brat/config.toml"
    terminal.write({".brat/config.toml": engine("my-agent < $BRAT_PROMPT")})

    said = terminal.type(HEADLESS)

    assert said.status == 0, said.err
    assert f"using the uncommitted version of {config}" in said.lines
    (pull,) = said.after("work landed; bring it into your checkout with: ")
    terminal.done(pull)
    assert (terminal.cwd / "words/task_1.py").exists()
    assert terminal.done("git status --short") == "?? .brat/"
    assert left_running(tmp_path) == []


def test_1_when_a_task_fails_and_a_person_may_give_it_up(tmp_path: Path) -> None:
    terminal = project(tmp_path, FAILING)

    said = terminal.type(HEADLESS)

    assert said.status == 1
    assert any("task 1 is blocked" in line for line in said.lines)
    assert "The agent exited with status 3: " in said.err
    assert any("brat task retry 1" in line for line in said.lines)
    assert left_running(tmp_path) == []

    assert terminal.type("brat status").status == 1
    dropped = terminal.type("brat task drop 1")

    assert dropped.status == 0, dropped.err
    assert kinds_of_facts(terminal) >= {"work.refused", "task.blocked", "task.dropped"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("brat mayor start --headless --task ''", "the task is empty"),
        ("brat mayor start --headless --task x --timeout soon", "--timeout: "),
        ("brat mayor start --headless --task x --timeout 0", "--timeout must"),
        ("brat mayor start --task x --timeout 1h", "--timeout requires --headless"),
        ("brat mayor start --headless", "--task"),
        ("brat mayor start --headless --task x --fast", "--fast"),
        ("brat mayor begin", "begin"),
    ],
)
def test_2_when_it_is_not_used_as_it_should_be(
    tmp_path: Path, line: str, why: str
) -> None:
    terminal = project(tmp_path, None)

    said = terminal.type(line)

    assert said.status == 2
    assert why in said.err
    assert "Traceback" not in said.err
    assert said.out == ""
    assert not (terminal.cwd / ".git/brat").exists()


def test_3_when_the_time_is_over_and_nothing_runs_on(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("sleep 60"))

    said = terminal.type(f"{HEADLESS} --timeout 3s")

    assert said.status == 3
    assert "not finished after 3 s; work is kept; to continue: brat up" in said.lines
    again = terminal.type(f"{HEADLESS} --timeout 3s")
    assert again.status == 3
    assert (
        "issue #1 has the same text and is still open: continuing with it"
        in again.lines
    )
    terminal.type("brat mayor run")  # a busy machine accepts none in that time
    assert terminal.done("brat convoy list").count("#1") == 1
    assert "#2" not in terminal.done("brat convoy list")
    assert left_running(tmp_path) == []


# --- rules ----------------------------------------------------------------------------


START = "brat mayor start --task 'Spell words' --headless"


@pytest.mark.timeout(600)
@pytest.mark.layer("landing")
def test_a_headless_run_ends_where_only_a_review_is_missing(tmp_path: Path) -> None:
    terminal = extended(project(tmp_path, engine("my-agent < $BRAT_PROMPT")), "rules")
    terminal.done("brat init")
    known = registered(terminal)
    with at_rest(terminal) as forge:
        put_ruleset(forge, pull_request(1), checks("ci"), repo=known.repository)

    said = terminal.type(START)

    waits = "pull request #3 is waiting for 1 approving review, the check ci"
    assert said.status == 1, said.err
    assert f"spell-words-1: {waits}" in said.lines
    assert waits in terminal.type("brat status").out

    with staying(terminal, "up") as up:
        up.says("dashboard: ")
        ask(terminal, "POST", "pulls/3/reviews", {"event": "APPROVE"})
        up.says("work landed; bring it into your checkout with: ")


# --- refused alike --------------------------------------------------------------------


def only_task(terminal: Terminal) -> dict[str, Any]:
    (convoy,) = json.decode(terminal.type("brat status --json").out)["convoys"]
    (task,) = convoy["tasks"]
    return dict(task)


@pytest.mark.layer("landing")
def test_the_same_refusal_twice_ends_the_attempts(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("echo '# Mine' > AGENTS.md"))

    said = terminal.type(START)

    assert said.status == 1
    task = only_task(terminal)
    assert (task["state"], task["attempts"]) == ("blocked", 2)
    alike = (
        "two attempts were refused for the same reason: The patch changes a "
        "protected path"
    )
    assert any(alike in line for line in said.lines)
