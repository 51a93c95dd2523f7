"""Somebody else's project: a small package with tests, and an agent for it."""

from pathlib import Path

from tests.world.terminal import Terminal, new_terminal

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
