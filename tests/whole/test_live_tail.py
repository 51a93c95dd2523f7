"""A session is watched while it runs: at a terminal and in the dashboard, from afar."""

import re
from pathlib import Path

import httpx
import pytest

from tests.world.patience import patient
from tests.world.staying import staying
from tests.world.words import BARE, engine, project

pytestmark = pytest.mark.timeout(120)

SAYS = """
for n in 1 2 3; do
    echo line $n; until [ -e seen-$n ]; do sleep 0.1; done; rm seen-$n
done
echo hi > hi.txt
"""
"""It says the next line when somebody has seen the last one."""
LIST = "Say words\n\n- [ ] Say hi (paths: hi.txt)\n"
HEAD = f"git -C {BARE} rev-parse refs/grite/wal"


def test_each_line_of_a_session_is_seen_before_the_next(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(SAYS))
    terminal.done("brat init")
    terminal.done(f"brat mayor start --task '{LIST}'")
    with staying(terminal, "up") as up:
        here, token = up.says("dashboard: ").split()[-1].split("?token=")
        up.says("task 1 running")
        with staying(terminal, "session", "tail", "-f", "1") as tail:
            task, pages = f"{here}convoys/say-words-1/tasks/1/output", []
            (checkout,) = terminal.cwd.glob(".git/brat/forge/runs/*/workspace/brat-*")
            heads = []
            for number in (1, 2, 3):
                tail.says(f"line {number}")
                answer = httpx.get(
                    task,
                    headers={"Authorization": f"Bearer {token}"},
                    trust_env=False,
                    timeout=patient(20),
                )
                pages.append(f"line {number}" in answer.text)
                heads.append(terminal.done(HEAD))
                if number < 3:
                    (checkout / f"seen-{number}").touch()
            terminal.done("brat task tell 1 'Say it louder.'")
            why = terminal.done("brat why 1")
            agents = terminal.done("brat session list")
            tapes = list((terminal.cwd / ".git/brat/bot/feed").glob("*/1-1.jsonl"))
            (checkout / "seen-3").touch()
            up.says("task 1 needs-review")
            tail.ended()

    assert all(pages)  # what the terminal shows, the dashboard does
    assert re.search(r"say-words-1/1/1 .* Say hi +line 3", agents)
    assert "- its engine has not received 1 of 1 messages;" in why
    assert tapes
    assert len(set(heads)) == 1  # nothing of it is in the log
    assert (tapes[0].parents[2] / "feed.key").stat().st_mode & 0o077 == 0
