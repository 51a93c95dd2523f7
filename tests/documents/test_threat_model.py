"""The threat model names tests that there are, and leaves out no control."""

import ast
import re
from functools import cache

from tests.documents.pages import ROOT

PAGE = ROOT / "docs/threat-model.md"
CONTROLS = {
    "H": 11,
    "A": 10,
    "P": 8,
    "O": 8,
    "S": 6,
    "W": 9,
    "R": 7,
    "M": 8,
    "L": 5,
    "C": 5,
}
"""How many there are of each letter."""
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)


@cache
def names_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {each.name for each in tree.body if isinstance(each, kinds)}


def test_each_test_that_it_names_is_there() -> None:
    named = NAMED.findall(PAGE.read_text("utf-8"))

    assert len(named) > 100
    missing = [
        f"{path}::{name}" for path, name in named if name and name not in names_in(path)
    ]
    assert missing == []
    assert [path for path, _ in named if not (ROOT / path).is_file()] == []


def test_each_control_is_held_by_a_test_or_said_to_be_held_by_none() -> None:
    text = PAGE.read_text("utf-8")
    rows = ROW.findall(text)
    unheld = text.partition("## What no test holds\n")[2].partition("\n## ")[0]

    ids = [name for name, _, _ in rows]
    assert len(ids) == len(set(ids))
    assert set(ids) >= {
        f"{key}{n + 1}" for key, count in CONTROLS.items() for n in range(count)
    }
    for name, _, held in rows:
        assert ("`tests/" in held) is not (name in re.findall(r"[A-Z]\d+", unheld)), (
            name
        )
