"""A machine dies while an agent works; what it had done is gone on from."""

import time
from pathlib import Path

import pytest

from brat.demo import demo_run
from tests.whole.test_live_tail import line_with
from tests.world.patience import patient
from tests.world.staying import typed
from tests.world.words import engine, project

DEADLINE_S = patient(60)
pytestmark = [pytest.mark.timeout(300), pytest.mark.layer("landing")]

AGENT = """
if [ $BRAT_ATTEMPT = 1 ]; then echo half > half.txt; sleep 86399; fi
grep -A4 "Attempt 1 was cut off" $BRAT_PROMPT > whole.txt
echo "BRAT: done It is whole."
"""
LIST = "Say words\n\n- [ ] Say hi\n"
BRANCH = "convoy/say-words-1/task-1"
SHOW = "git -C .git/brat/forge/repos/pat-person/project.git"


def awaited(folder: Path, pattern: str) -> Path:
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        for found in folder.glob(pattern):
            return found
        time.sleep(0.05)
    raise AssertionError(pattern)


@pytest.mark.parametrize("way", ["feed", "artifact"])
def test_the_next_attempt_has_the_work_of_the_lost_one(
    tmp_path: Path, way: str
) -> None:
    terminal = project(tmp_path, engine(AGENT, "[witness]\ncheckpoint = 1\n"))
    terminal.done("brat init")
    terminal.done(f"brat mayor start --task '{LIST}'")
    hidden = terminal.cwd / ".git/brat"
    with typed(terminal, "up") as up:
        line_with(up, "task 1 running")
        sent = awaited(hidden, "bot/feed/*/1-1.bundle")
        left = awaited(hidden, "forge/runs/*/result/checkpoint.bundle")
        (left if way == "feed" else sent).unlink()
        demo_run.lose(terminal.cwd)
        line_with(up, "task 1 needs-review")

    said = terminal.done(f"{SHOW} log --format=%B {BRANCH} -- half.txt")
    assert "Brat-Half-Done: yes" in said
    assert "`git diff" in terminal.done(f"{SHOW} show {BRANCH}:whole.txt")
    told = terminal.done("brat log show")
    assert "its work so far is kept" in told
