"""The dashboard as people open it: `brat up`, and `brat dashboard` in a clone."""

import httpx
import pytest

from tests.whole.demo import let_in
from tests.world.staying import staying
from tests.world.terminal import Terminal, left_running
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
