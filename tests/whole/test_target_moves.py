"""The target moves while a convoy is under way: what was done lands all the same."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from tests.world.layers import sampled
from tests.world.second_reader import rows
from tests.world.seen import Seen, look
from tests.world.terminal import Terminal
from tests.world.words import NO_BOX, engine, project

pytestmark = pytest.mark.timeout(600)
AGENT = "my-agent < $BRAT_PROMPT"


def planned(terminal: Terminal, task: str = "Spell words") -> None:
    terminal.done("brat init")
    terminal.done(f"brat mayor start --task {shlex.quote(task)}")


def status(terminal: Terminal) -> dict[str, Any]:
    found: dict[str, Any] = json.decode(terminal.type("brat status --json").out)
    return found


def facts(seen: Seen) -> list[str]:
    return [str(row.fact["type"]) for row in rows(seen.path) if row.fact]


@pytest.mark.layer("landing")
def test_a_target_that_merges_is_taken_in_and_judged_before_the_convoy_lands(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, engine(AGENT))
    planned(terminal, "Two\n\n- [ ] Spell words\n- [ ] Sort words (after 1)\n")
    terminal.done("brat witness run")
    terminal.done("brat refinery run")
    moved = terminal.commit("Say more", {"README.md": "Words.\n"})

    terminal.done("brat witness run")
    terminal.done("brat refinery run")

    (convoy,) = status(terminal)["convoys"]
    assert convoy["state"] == "complete"
    seen = look(terminal.cwd / ".git/brat")
    assert moved in seen.ancestors()
    assert facts(seen).count("sync.landed") == 1
    assert [one["conclusion"] for one in seen.checks[convoy["landed_commit"]]] == [
        "success"
    ]


RESOLVING = """
# Keeps both sides of a conflict; else adds its line to the list.
if grep -q '^<<<<<<<' LIST; then
    sed -i '/^<<<<<<< /d; /^=======$/d; /^>>>>>>> /d' LIST
else
    echo "task $BRAT_TASK of $BRAT_CONVOY" >> LIST
fi
"""
LISTED = "Two\n\n- [ ] Spell words\n- [ ] Sort words (after 1)\n"


def listing(folder: Path, more: str = "") -> Terminal:
    """Make a project whose agent adds to a list, with one of two tasks merged."""
    terminal = project(folder, engine("resolver", more + NO_BOX))
    terminal.install("resolver", RESOLVING)
    terminal.commit("Begin a list", {"LIST": "begun\n"})
    planned(terminal, LISTED)
    terminal.done("brat witness run")
    terminal.done("brat refinery run")
    return terminal


def go_on(terminal: Terminal) -> None:
    """Let agents and the refinery take turns until all convoys have ended."""
    for _ in range(4):
        terminal.done("brat witness run")
        terminal.done("brat refinery run")
        if all(one["state"] == "complete" for one in status(terminal)["convoys"]):
            return
    raise AssertionError(terminal.type("brat status").out)


@pytest.mark.layer("landing")
@pytest.mark.parametrize("sync", sampled([("true",), ("false",)], {("true",)}))
def test_an_agent_resolves_what_conflicts_with_the_target(
    tmp_path: Path, sync: str
) -> None:
    terminal = listing(tmp_path, f"[refinery]\nsync = {sync}\n")
    moved = terminal.commit("Go on with it", {"LIST": "begun\nby hand\n"})

    go_on(terminal)

    (convoy,) = status(terminal)["convoys"]
    kinds = [(task["kind"], task["state"]) for task in convoy["tasks"]]
    assert kinds == [("work", "merged")] * 2 + [("sync", "merged")]
    seen = look(terminal.cwd / ".git/brat")
    assert moved in seen.ancestors()
    landed = convoy["tasks"][2]["landed_commit"]
    assert moved in seen.git("rev-list", "--parents", "-1", landed).split()[1:]
    whole = seen.git("show", "main:LIST").splitlines()
    name = convoy["name"]
    done = [f"task 1 of {name}", f"task 2 of {name}"]
    assert sorted(whole) == ["begun", "by hand", *done]
    assert [pull["merged"] for pull in seen.pulls] == [True] * 4
    assert seen.faults == []
