"""The shape of the code: what `make house` counts and nobody may add to."""

import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.house import imports
from benchmarks.house.tree import NAMELESS, sources
from tests.mutants.mutant import entries, placed

pytestmark = pytest.mark.layer("landing")

TOP = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def files() -> imports.Graph:
    return imports.of_files(sources(TOP))


def test_no_files_import_each_other_in_a_circle(files: imports.Graph) -> None:
    assert imports.circles(files) == []


def test_no_rooms_import_each_other_in_a_circle(files: imports.Graph) -> None:
    assert imports.circles(imports.of_rooms(files)) == []


def test_no_two_files_share_a_name() -> None:
    names = Counter(
        Path(source.path).name for source in sources(TOP) if not source.is_sample
    )

    assert [name for name, many in names.items() if many > 1] == [
        name for name in names if name in NAMELESS
    ]


def test_what_contributors_are_told_to_open_is_there() -> None:
    told = re.findall(
        r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", (TOP / "CONTRIBUTING.md").read_text()
    )

    assert [path for path in told if not (TOP / path).exists()] == []


def test_each_mutant_is_found_in_its_file() -> None:
    for entry in entries():
        placed(entry)
