"""The dashboard as people open it: `brat up`, and `brat dashboard` in a clone."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.whole.demo import let_in
from tests.world.patience import patient
from tests.world.terminal import BRAT, Terminal, left_running
from tests.world.words import cloned, engine, project

pytestmark = pytest.mark.timeout(600)


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
    clone = cloned(terminal)
    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")
    with running(clone, "dashboard", "--port", "0") as url, let_in(url) as browser:
        page = browser.get("/").text
        refused = browser.post("/convoys/say-hi-1/tasks/1/retry")
        stranger = httpx.get(url.partition("?")[0], trust_env=False)

    assert "say-hi-1" in page
    assert refused.text == "This dashboard is read-only.\n"
    assert stranger.status_code == 403
