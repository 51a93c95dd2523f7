"""The dashboard as people open it: `brat up`, and `brat dashboard` in a clone."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.world.terminal import BRAT, Terminal, left_running
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
    """Run a command that stays; give the address of the dashboard that it prints."""
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
        process.communicate(timeout=60)


def test_up_shows_what_waits_and_a_button_retries_it(terminal: Terminal) -> None:
    with (
        running(terminal, "up", "--port", "0") as url,
        httpx.Client(trust_env=False, follow_redirects=True) as browser,
    ):
        page = browser.get(url).text
        base = url.partition("/?")[0]
        pressed = browser.post(f"{base}/convoys/say-hi-1/tasks/1/retry")

    assert "Waits for you" in page
    assert 'action="/convoys/say-hi-1/tasks/1/retry"' in page
    assert pressed.status_code == 200
    assert "Task 1 is queued again (retry)" in terminal.done("brat log show")
    assert left_running(terminal.cwd) == []


def test_a_clone_has_one_that_only_shows(terminal: Terminal) -> None:
    clone = Terminal(terminal.cwd.parent / "clone", terminal.home)
    terminal.done(f"git clone -q {terminal.cwd / BARE} {clone.cwd}")
    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")
    with running(clone, "dashboard", "--port", "0") as url:
        page = httpx.get(url, trust_env=False).text
        refused = httpx.post(f"{url}/convoys/say-hi-1/tasks/1/retry", trust_env=False)

    assert "say-hi-1" in page
    assert refused.text == "This dashboard only shows.\n"
