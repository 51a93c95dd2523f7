"""Fifty agents at once on one machine, ten of which make trouble."""

import json
import os
import random
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from msgspec import Struct

from brat.demo.demo_run import lose
from tests.whole import fleet_agent
from tests.world.patience import patient
from tests.world.second_reader import rows
from tests.world.terminal import Said, Terminal, left_running, new_terminal

pytestmark = pytest.mark.timeout(1500)
MANY, FEW = 50, 5
"""Tasks of an engine that all may run at once, and of one that two may."""
LIMITS = {"default": MANY, "few": 2}
CONFIG = f"""\
[engine.default]
type = "claude-code"
silence = "15s"
max_sessions = {LIMITS["default"]}

[engine.few]
type = "claude-code"
silence = "15s"
max_sessions = {LIMITS["few"]}

[witness]
max_sessions = {MANY + 2}

[mayor]
tasks = 60

[ci]
command = "true"
"""
KINDS = ("dies", "hangs", "floods", "limited", "gives_up")
LOOK_S = 0.5
ENDS = ("work.accepted", "work.refused", "session.lost")
TROUBLE = dict(
    zip(
        random.Random(50).sample(  # noqa: S311  made up, and the same each time
            range(1, MANY + 1), max(MANY // 5, len(KINDS))
        ),
        KINDS * 9,
        strict=False,
    )
)


class Fleet(Struct, frozen=True):
    said: Said
    told: dict[str, Any]
    facts: list[dict[str, Any]]
    left_running: list[str]
    litter: list[str]

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        return [fact for fact in self.facts if fact["type"] in kinds]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    folder = tmp_path_factory.mktemp("fleet")
    terminal = new_terminal(folder)
    terminal.commit("Begin", {"README.md": "hello\n", ".brat/config.toml": CONFIG})
    _install(terminal)
    many = [f"- [ ] Write {n}.txt" for n in range(1, MANY + 1)]
    few = [f"- [ ] Write {MANY + n}.txt engine: few" for n in range(1, FEW + 1)]
    asked = shlex.quote("\n".join(["All files", "", *many, *few]))
    with _machines_that_die(folder):
        said = terminal.type(
            "env ANTHROPIC_API_KEY=made-up "
            f"brat mayor start --headless --timeout 3h --task {asked}",
            deadline_s=patient(1400),
        )
    assert said.status == 1, said.err  # some are blocked
    bare = next((terminal.cwd / ".git/brat/forge/repos").glob("*/*.git"))
    return Fleet(
        said,
        json.loads(terminal.type("brat status --json").out),
        [fact for row in rows(bare) if (fact := row.fact)],
        left_running(folder),
        [at for at, _, _ in os.walk(folder) if Path(at).match("brat-????????")],
    )


@contextmanager
def _machines_that_die(folder: Path) -> Iterator[None]:
    """Kill the runner above each agent that waits for that, from outside its box."""
    over = Event()

    def watch() -> None:
        while not over.wait(LOOK_S):
            lose(folder)

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _install(terminal: Terminal) -> None:
    program = terminal.programs / "agent.py"
    program.write_bytes(Path(fleet_agent.__file__).read_bytes())
    terminal.install("claude", f"exec {sys.executable} -I {program}\n")
    (terminal.programs / "troubles.json").write_text(json.dumps(TROUBLE))


def test_every_task_is_merged_or_blocked_with_its_reason(fleet: Fleet) -> None:
    (convoy,) = fleet.told["convoys"]

    for task in convoy["tasks"]:
        lost = TROUBLE.get(task["number"]) == "gives_up"
        assert task["state"] == ("blocked" if lost else "merged"), task
        assert ("This is beyond me." in task["why"]) is lost, task


def test_an_outage_and_a_flood_are_no_failed_attempts(fleet: Fleet) -> None:
    spent = Counter(fact["task"] for fact in fleet.of("work.refused", "session.lost"))

    for task, trouble in TROUBLE.items():
        starts = [f for f in fleet.of("task.started") if f["task"] == task]
        assert len(starts) == (1 if trouble == "floods" else 2)
        assert (spent[task] > 0) is (trouble != "floods")
    assert set(spent) <= set(TROUBLE)


def test_the_end_of_a_machine_is_a_lost_session_and_the_next_one_works(
    fleet: Fleet,
) -> None:
    lost = {fact["task"] for fact in fleet.of("session.lost")}

    assert {task for task, trouble in TROUBLE.items() if trouble == "dies"} <= lost


def test_no_engine_had_more_sessions_than_it_may(fleet: Fleet) -> None:
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for fact in fleet.of("task.started", *ENDS):
        name = "default" if fact["task"] <= MANY else "few"
        running[name] += 1 if fact["type"] == "task.started" else -1
        most[name] = max(most[name], running[name])

    assert most["default"] <= LIMITS["default"]
    assert most["few"] == LIMITS["few"]
    assert not any(running.values())


def test_no_lease_no_process_and_no_folder_is_left(fleet: Fleet) -> None:
    assert fleet.told["locks"] == []
    assert fleet.told["sessions"] == []
    assert fleet.left_running == []
    assert fleet.litter == []
