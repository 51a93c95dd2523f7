"""A new user's first five minutes: each step works, or says what to do about it."""

from pathlib import Path

import pytest

from tests.whole.first_five_minutes import SESSIONS, START, Session
from tests.world.terminal import left_running

pytestmark = pytest.mark.timeout(300)
SHALLOW = "agents need the whole history: run `git fetch --unshallow`, or set "
NO_CI = "no CI command was found, so nothing can land: set [ci] command in "
REFUSED = {
    "an empty folder": [
        ("brat init", "is not in a git repository: run `git init` there, or choose"),
        (
            "brat init",
            "create one, for example with `git commit --allow-empty -m Begin`",
        ),
        (START, "the program claude was not found: run `npm install -g "),
        (START, NO_CI),
    ],
    "a shallow clone": [("brat init", SHALLOW), (START, SHALLOW)],
}
"""What is refused on the way, and what is said to do about it."""


@pytest.mark.parametrize("name", SESSIONS)
def test_every_session_ends_with_landed_work(tmp_path: Path, name: str) -> None:
    here: Session = SESSIONS[name](tmp_path)

    refused = [step for step in here.steps if step.said.status != 0]
    told = [(step.line, line) for step in refused for line in step.said.lines]
    expected = REFUSED.get(name, [])
    assert len(told) == len(expected), told
    for (line, said), (typed, sentence) in zip(told, expected, strict=True):
        assert line == typed
        assert sentence in said
    shown = "\n".join(step.said.err + step.said.out for step in here.steps)
    assert "Traceback" not in shown
    assert (here.terminal.cwd / "hello.txt").read_text() == "hello\n"
    assert left_running(tmp_path) == []
