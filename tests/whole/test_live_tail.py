"""A session is watched while it runs: at a terminal and in the dashboard, from afar."""

import re
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from tests.world.staying import typed
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(120)

SLOW = "i=0; while [ ! -e done ]; do echo at $(date +%s.%N); sleep 0.2; done; rm done"
LIST = "Say words\n\n- [ ] Say hi (paths: hi.txt)\n"
HEAD = "git -C .git/brat/forge/repos/pat-person/project.git rev-parse refs/grite/wal"
LIVE_S = 5.0


def line_with(process: subprocess.Popen[str], words: str) -> str:
    """Return the next line that holds these words."""
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return line
    raise AssertionError(words)


def late_s(line: str) -> float:
    """Return how old a line is that says when it was written."""
    return time.time() - float(line.split()[1])


def test_a_session_is_seen_within_seconds(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(f"{SLOW}; echo hi > hi.txt"))
    terminal.done("brat init")
    terminal.done(f"brat mayor start --task '{LIST}'")
    with typed(terminal, "up") as up:
        token = line_with(up, "dashboard: ").split("?token=")[0].split()[-1]
        line_with(up, "task 1 running")
        with typed(terminal, "session", "tail", "-f", "1") as tail:
            heads = [terminal.done(HEAD)]
            late = [late_s(line_with(tail, "at ")) for _ in range(12)]
            heads.append(terminal.done(HEAD))
            task = f"{token}convoys/say-words-1/tasks/1/output"
            page = httpx.get(task, trust_env=False).text
            late.append(late_s([x for x in page.splitlines() if "at " in x][-1]))
            terminal.done("brat task tell 1 'Say it louder.'")
            why = terminal.done("brat why 1")
            top = terminal.done("brat top --once")
            tapes = list((terminal.cwd / ".git/brat/bot/feed").glob("*/1-1.jsonl"))
            checkout = next((terminal.cwd / ".git/brat/forge/runs").glob("*/workspace"))
            next(checkout.glob("brat-*")).joinpath("done").touch()
            line_with(up, "task 1 needs-review")
            tail.wait(30)

    assert max(late[-2:]) < LIVE_S  # at the terminal and in the dashboard
    assert top.startswith("1 agent at work, 0 tasks queued, 0 in merge queues, 0 wait")
    assert re.search(r"say-words-1/1/1 .* Say hi +at [0-9]+\.", top)
    assert "- 1 of 1 messages for it have not reached its engine;" in why
    assert tapes
    assert heads[0] == heads[1]  # nothing of it is in the log
    assert (tapes[0].parents[2] / "feed.key").stat().st_mode & 0o077 == 0
