"""The dashboard as people open it: `brat up`, and `brat dashboard` in a clone."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.world.patience import patient
from tests.world.terminal import BRAT, Terminal, left_running, new_terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(600)

BARE = ".git/brat/forge/repos/pat-person/project.git"


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A task that blocks at once: its agent always fails, and has one attempt."""
    config = engine("exit 3", "[witness]\nattempts = 1\n")
    terminal = project(tmp_path_factory.mktemp("dashboard"), config)
    terminal.done("brat init")
    terminal.type("brat mayor start --task 'Say hi' --headless")
    return terminal


@contextmanager
def running(terminal: Terminal, *words: str) -> Iterator[str]:
    process = subprocess.Popen(
        [BRAT, *words],
        cwd=terminal.cwd,
        env=terminal.environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"dashboard: (\S+)", line):
                yield found[1]
                break
        else:
            pytest.fail(said)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=patient(60))


@contextmanager
def let_in(url: str) -> Iterator[httpx.Client]:
    """Open the printed address as a browser does; give who has its cookie now."""
    with httpx.Client(
        base_url=url.partition("?")[0],
        trust_env=False,
        timeout=patient(20),
        follow_redirects=True,
    ) as client:
        assert client.get(url).status_code == 200
        yield client


@pytest.mark.layer("landing")
def test_up_shows_what_waits_and_a_button_retries_it(terminal: Terminal) -> None:
    with running(terminal, "up", "--port", "0") as url, let_in(url) as browser:
        page = browser.get("/").text
        pressed = browser.post("/convoys/say-hi-1/tasks/1/retry")

    assert "Waiting for you" in page
    assert 'action="/convoys/say-hi-1/tasks/1/retry"' in page
    assert pressed.status_code == 200
    assert "Task 1 was queued again (retry)" in terminal.done("brat log show")
    assert left_running(terminal.cwd) == []


def test_a_clone_has_one_that_only_shows(terminal: Terminal) -> None:
    clone = Terminal(terminal.cwd.parent / "clone", terminal.home)
    terminal.done(f"git clone -q {terminal.cwd / BARE} {clone.cwd}")
    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")
    with running(clone, "dashboard", "--port", "0") as url, let_in(url) as browser:
        page = browser.get("/").text
        refused = browser.post("/convoys/say-hi-1/tasks/1/retry")
        stranger = httpx.get(url.partition("?")[0], trust_env=False)

    assert "say-hi-1" in page
    assert refused.text == "This dashboard is read-only.\n"
    assert stranger.status_code == 403


@pytest.mark.layer("landing")
def test_the_demo_is_watched_to_its_end(tmp_path: Path) -> None:
    terminal = new_terminal(tmp_path)
    with subprocess.Popen(
        [BRAT, "demo", "--with-ui", "--json"],
        cwd=terminal.cwd,
        env=terminal.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as demo:
        assert demo.stdin is not None
        assert demo.stderr is not None
        states: set[str] = set()
        for line in demo.stderr:
            if found := re.search(r"dashboard: (\S+)", line):
                with let_in(found[1]) as browser:
                    states = _states_once_complete(browser)
            if "press Enter" in line:
                demo.stdin.write("\n")
                demo.stdin.flush()
    assert demo.returncode == 0
    assert states == {"merged"}


def _states_once_complete(browser: httpx.Client) -> set[str]:
    """Follow the convoy over the dashboard's API; return how its tasks ended."""
    convoys: list[dict[str, Any]] = []
    deadline = time.monotonic() + patient(240)
    while time.monotonic() < deadline:
        convoys = browser.get("/api/v1/status").json()["convoys"]
        if [convoy["state"] for convoy in convoys] == ["complete"]:
            return {task["state"] for task in convoys[0]["tasks"]}
        time.sleep(0.2)
    pytest.fail(f"the convoy did not end: {convoys}")
