"""`brat open` shows a page in the person's browser, or prints its address."""

import re
import stat
from html import unescape
from pathlib import Path

import httpx
import pytest

from tests.world.kept import Kept
from tests.world.patience import patient
from tests.world.rules import NAME, Rules, spec
from tests.world.terminal import left_running, new_terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(300)
BROWSER = "env BROWSER=my-browser"
NONE = "env -u DISPLAY -u WAYLAND_DISPLAY BROWSER=false"


@pytest.mark.layer("landing")
def test_the_dashboard_opens_without_its_token_on_a_command_line(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, engine("my-agent < $BRAT_PROMPT"))
    opened = tmp_path / "opened"
    terminal.install("my-browser", f'printf %s "$1" > {opened}\n')
    terminal.done("brat init")
    terminal.type("brat mayor start --task 'Spell words'")
    early = terminal.type("brat open 1")
    terminal.done("brat daemon start --port 0")
    try:
        said = terminal.type(f"{BROWSER} brat open 1")
        file = Path(opened.read_text().removeprefix("file://"))
        leads = re.search(r'url=(.*)">', file.read_text())
        assert leads is not None
        page = httpx.get(
            unescape(leads[1]),
            trust_env=False,
            timeout=patient(20),
            follow_redirects=True,
        )
        whole = terminal.done(f"{NONE} brat open")
        wrong = terminal.type("brat open 9")
    finally:
        terminal.done("brat daemon stop")

    assert (early.status, early.lines) == (
        *(1, ["brat: no page shows it yet: brat daemon start serves the dashboard"]),
    )
    assert said.status == 0, said.err
    assert said.out.strip() == unescape(leads[1])
    assert (page.status_code, page.url.path) == (200, "/convoys/spell-words-1/tasks/1")
    assert "Spell words" in page.text
    assert "token" not in opened.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert re.fullmatch(r"http://\S+/\?token=\S+", whole)
    assert wrong.status == 1
    assert "has no task 9" in wrong.err
    assert left_running(tmp_path) == []


@pytest.mark.parametrize(
    ("origin", "web"),
    [
        ("https://github.com/you/widgets.git", "https://github.com/you/widgets"),
        ("git@github.com:you/widgets", "https://github.com/you/widgets"),
        ("ssh://git@octo.ghe.com/you/widgets", "https://octo.ghe.com/you/widgets"),
        ("https://a.example:8443/you/widgets", "https://a.example:8443/you/widgets"),
        ("https://x:pass@a.example/you/widgets", "https://a.example/you/widgets"),
    ],
)
def test_a_clone_prints_the_page_at_its_forge(
    tmp_path: Path, origin: str, web: str
) -> None:
    kept = Kept(tmp_path / "log.git", Rules().planned(spec(1), spec(2)))
    terminal = new_terminal(tmp_path / "person")
    terminal.done(f"git -C {kept.path} remote add origin {origin}")

    def address(words: str) -> str:
        return terminal.done(f"{NONE} brat open {words} --repo {kept.path}")

    assert address("") == address(NAME) == address("1") == f"{web}/issues/7"
    assert terminal.type(f"brat open no-such --repo {kept.path}").lines == [
        "brat: 'no-such' is neither a task's number nor a convoy's name"
    ]
