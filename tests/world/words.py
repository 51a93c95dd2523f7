"""Somebody else's project: a package with tests, an agent, and what came of it."""

import json
from pathlib import Path
from typing import Any

from tests.world.second_reader import rows
from tests.world.terminal import Said, Terminal, new_terminal

BARE = ".git/brat/forge/repos/pat-person/project.git"
"""The local forge's repository, from the checkout."""
PULL = "work landed; bring it into your checkout with: "
FILES = {
    "words/__init__.py": '"""Counting words."""\n',
    "words/count.py": "def count(text):\n    return len(text.split())\n",
    "tests/test_count.py": (
        "from words.count import count\n\n\n"
        "def test_two():\n    assert count('a b') == 2\n"
    ),
    "pyproject.toml": (
        '[tool.pytest.ini_options]\npythonpath = ["."]\n'
        'addopts = ["--disable-plugin-autoload"]\n'
    ),
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
}
AGENT = r"""
# Does its task: a module that knows what it was asked for, and a test of it.
asked=$(head -n 1)
printf 'ASKED = "%s"\n' "$asked" > "words/task_$BRAT_TASK.py"
printf 'from words import task_%s as it\n\n\ndef test_it():\n    assert it.ASKED\n' \
    "$BRAT_TASK" > "tests/test_task_$BRAT_TASK.py"
"""

NO_BOX = """
[runner]
box = "off"
"""
"""For agents and CI that meet the test by files beside their own folders."""


def engine(command: str, more: str = "") -> str:
    return f"""\
[engine.default]
type = "shell"
args = ["sh", "-c", '''{command}''']

{more}
"""


def project(folder: Path, config: str | None) -> Terminal:
    """Make the project with one commit; without `config` it has no .brat folder."""
    terminal = new_terminal(folder)
    terminal.install("my-agent", AGENT)
    settled = {} if config is None else {".brat/config.toml": config}
    terminal.commit("Count words", FILES | settled)
    return terminal


def status(terminal: Terminal) -> dict[str, Any]:
    return dict(json.loads(terminal.type("brat status --json").out))


def convoy_of(terminal: Terminal) -> dict[str, Any]:
    """Return the only convoy, as programs are told of it."""
    (convoy,) = status(terminal)["convoys"]
    return dict(convoy)


def facts(terminal: Terminal, *kinds: str) -> list[dict[str, Any]]:
    """Return what the log tells, of all kinds or of these."""
    found = (row.fact for row in rows(terminal.cwd / BARE) if row.fact)
    return [fact for fact in found if not kinds or fact["type"] in kinds]


def taken(terminal: Terminal, said: Said) -> None:
    """Type the line that a command gave for taking in what landed."""
    assert said.status == 0, said.err
    (pull,) = said.after(PULL)
    terminal.done(pull)


def cloned(terminal: Terminal) -> Terminal:
    """Clone the forge's repository as on another machine, without its log."""
    clone = Terminal(terminal.cwd.parent / "clone", terminal.home)
    terminal.done(f"git clone -q {terminal.cwd / BARE} {clone.cwd}")
    return clone
