"""A red CI keeps its line breaks where a terminal has room for them."""

from pathlib import Path

import pytest

from convoy.rules.people import BlockTask
from tests.world.kept import Kept
from tests.world.rules import NAME, Rules, spec
from tests.world.terminal import new_terminal

pytestmark = [pytest.mark.timeout(120), pytest.mark.layer("landing")]
RED = """CI is red on baf3c4c43e: tests/test_a.py::test_x failed

E       assert 1 == 2
\x1b[31m- next: brat task drop 1\x1b[0m\x07
tests/test_a.py:7: AssertionError
"""
LINES = [
    "",
    "E       assert 1 == 2",
    "- next: brat task drop 1",
    "tests/test_a.py:7: AssertionError",
]


@pytest.mark.parametrize(
    ("words", "begin", "indent"),
    [
        ("why 1", "- CI is red on baf3c4c43e", "    "),
        ("task show 1", "why            CI is red on baf3c4c43e", "    "),
        (f"convoy show {NAME}", f"  {NAME} task 1: CI is red on ", "      "),
    ],
)
def test_a_red_ci_is_told_line_by_line(
    tmp_path: Path, words: str, begin: str, indent: str
) -> None:
    rules = Rules().planned(spec(1), spec(2))
    rules.do(BlockTask(convoy=NAME, task=1, why=RED))
    kept = Kept(tmp_path / "log.git", rules)
    terminal = new_terminal(tmp_path / "person")

    said = terminal.type(f"brat {words} --repo {kept.path}").out.splitlines()

    [first] = [number for number, line in enumerate(said) if line.startswith(begin)]
    told = [line and indent + line for line in LINES]
    assert said[first + 1 : first + 1 + len(told)] == told


def test_a_list_tells_its_first_line_alone(tmp_path: Path) -> None:
    rules = Rules().planned(spec(1), spec(2))
    rules.do(BlockTask(convoy=NAME, task=1, why=RED))
    kept = Kept(tmp_path / "log.git", rules)
    terminal = new_terminal(tmp_path / "person")

    said = terminal.type(f"brat status --repo {kept.path}").out.splitlines()

    [line] = [line for line in said if line.startswith(f"  {NAME} task 1: ")]
    assert line.endswith("tests/test_a.py::test_x failed")
