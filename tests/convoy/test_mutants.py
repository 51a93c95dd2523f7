"""The written list of mutants fits the rules as they are: `make mutants` runs it."""

import ast

import pytest

from tests.mutants.drawn import drawn
from tests.mutants.mutant import ROOT, Entry, entries, placed


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["breaks"])
def test_each_listed_mutant_changes_what_is_there(entry: Entry) -> None:
    mutant = placed(entry)
    source = (ROOT / mutant.file).read_text()

    changed = mutant.applied(source)

    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))


def test_a_draw_is_the_same_again_and_can_be_run() -> None:
    mutants = drawn(50, seed=1)

    assert mutants == drawn(50, seed=1)
    for mutant in mutants:
        ast.parse(mutant.applied((ROOT / mutant.file).read_text()))
