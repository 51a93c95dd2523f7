"""The dashboard as people open it: `brat up`, and `brat dashboard` in a clone."""

import re
from pathlib import Path

import httpx
import pytest

from tests.whole.demo import let_in
from tests.world.staying import staying
from tests.world.terminal import Terminal, left_running
from tests.world.words import BARE, cloned, engine, project

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A task that blocks at once: its agent always fails, and has one attempt."""
    config = engine("exit 3", "[witness]\nattempts = 1\n")
    terminal = project(tmp_path_factory.mktemp("dashboard"), config)
    terminal.done("brat init")
    terminal.type("brat mayor start --task 'Say hi' --headless")
    return terminal


@pytest.mark.layer("landing")
def test_up_shows_what_waits_and_a_button_retries_it(terminal: Terminal) -> None:
    with (
        staying(terminal, "up", "--port", "0") as up,
        let_in(up.says("dashboard: ").split()[1]) as browser,
    ):
        page = browser.get("/").text
        pressed = browser.post("/convoys/say-hi-1/tasks/1/retry")

    assert "Waiting for you" in page
    assert 'action="/convoys/say-hi-1/tasks/1/retry"' in page
    assert pressed.status_code == 200
    assert "Task 1 was queued again (retry)" in terminal.done("brat log show")
    assert left_running(terminal.cwd) == []


def test_a_clone_has_one_that_only_shows(terminal: Terminal) -> None:
    clone = cloned(terminal)
    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")
    with staying(clone, "dashboard", "--port", "0") as shown:
        url = shown.says("dashboard: ").split()[1]
        with let_in(url) as browser:
            page = browser.get("/").text
            refused = browser.post("/convoys/say-hi-1/tasks/1/retry")
            stranger = httpx.get(url.partition("?")[0], trust_env=False)

    assert "say-hi-1" in page
    assert refused.text == "This dashboard is read-only.\n"
    assert stranger.status_code == 403


# --- a session is watched while it runs, at a terminal, too ---------------------------


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
        up.says("task 1 running")
        with (
            staying(terminal, "session", "tail", "-f", "1") as tail,
            let_in(up.says("dashboard: ").split()[1]) as browser,
        ):
            tail.says("line 1")
            pages, heads = [], []
            (checkout,) = terminal.cwd.glob(".git/brat/forge/runs/*/workspace/brat-*")
            for number in (1, 2, 3):
                tail.says(f"line {number}")
                page = browser.get("/convoys/say-words-1/tasks/1/output")
                pages.append(f"line {number}" in page.text)
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
