"""What an agent leaves on a branch of its own, or in a stash, is not lost."""

from pathlib import Path

import pytest

from tests.world.words import BARE, engine, facts, project

pytestmark = [pytest.mark.layer("landing"), pytest.mark.timeout(300)]

AGENT = r"""
echo "$BRAT_TASK" > side.txt
half=a1B2c3D4e5a1B2c3D4e5
if [ "$BRAT_TASK" = 3 ]; then printf ghp_%s $half$half > key; fi
git checkout --quiet -b side
git add .
git commit --quiet --message 'On the side'
git checkout --quiet -
if [ "$BRAT_TASK" != 1 ]; then exit; fi
echo put away > stashed.txt
git stash --quiet --include-untracked
echo mine > own.txt
"""


def test_it_is_kept_beside_the_attempt_unless_it_shows_a_secret(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("my-agent", "[witness]\nattempts = 1\n"))
    terminal.install("my-agent", AGENT)
    terminal.done("brat init")
    tasks = "--task 'Do one' --task 'Do two' --task 'Do three'"

    terminal.type(f"brat mayor start --headless {tasks}")

    listed = "for-each-ref --format=%(refname) refs/grite/attempts"
    kept = {"1": "", "2": "", "3": ""}
    for ref in terminal.done(f"git -C {BARE} {listed}").splitlines():
        for file in ("^1:side.txt", "^2^3:stashed.txt"):
            kept[ref.split("/")[4]] += terminal.type(
                f"git -C {BARE} show {ref}{file}"
            ).out
    assert sorted(kept["1"].splitlines()) == ["1", "put away"]
    assert kept["2"] == "2\n"
    assert kept["3"] == ""
    notes = {each["task"]: each["notes"] for each in facts(terminal, "task.noted")}
    for task in (1, 2):
        said = "What is on another branch, or stashed, is kept at "
        assert notes[task][0].startswith(
            f"{said}refs/grite/attempts/do-one-1/{task}/1-"
        )
    assert notes[3] == ["Left out (committed on another branch, or stashed): side."]
