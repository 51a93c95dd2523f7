"""A made history done again as a convoy, by the command line, as `make replay` does."""

from pathlib import Path

import pytest

from benchmarks.replay import convoy_run, generated_history
from benchmarks.replay.convoy_run import How

pytestmark = pytest.mark.layer("deep")


def test_changes_that_overlap_all_land_without_a_person_and_give_the_same_tree(
    tmp_path: Path,
) -> None:
    history = generated_history.mixed(tmp_path)

    done = convoy_run.run(tmp_path / "run", history, How(mode="all", seconds=0.1))

    assert done.landed == done.changes
    assert done.persons == 0
    assert done.same_tree
    assert done.sessions <= 1.3 * done.changes
    # Judged with what it stands on, again when that was red, and anew without it: a
    # slow machine stacks more candidates before the first verdict comes.
    assert done.ci_runs <= 3 * done.changes


def test_all_of_a_herd_that_adds_to_one_undeclared_file_land(tmp_path: Path) -> None:
    history = generated_history.herd(tmp_path, 4)

    how = How(mode="none", seconds=0.1)
    done = convoy_run.run(tmp_path / "run", history, how)

    assert (done.landed, done.persons, done.same_tree) == (4, 0, True)
    assert done.sessions <= 2 * done.changes
