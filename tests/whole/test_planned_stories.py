"""The seeds' two examples: planned by a real CLI, and really run at the same time."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from brat.local.forge_process import Process
from brat.local.start_checks import MODEL_URL
from tests.engines.install import PROGRAMS
from tests.world.patience import patient
from tests.world.second_reader import rows
from tests.world.terminal import Terminal, left_running, new_terminal
from tests.world.vendor.script import Case, Script, dump
from tests.world.words import NO_BOX

pytestmark = pytest.mark.timeout(600)

ASKED = "Plan the work that the issue asks for"
"""The beginning of a planning session's prompt: convoy.answers."""
JWT = (
    "Refactor the auth module to use JWT tokens, update all tests, and update API "
    "documentation"
)
AUTH = {
    "auth/__init__.py": "",
    "auth/tokens.py": "def issue(name):\n    return name\n",
    "auth/middleware.py": "from auth.tokens import issue\n",
    "auth/login.py": "from auth.middleware import issue\n",
    "tests/test_tokens.py": "def test_one():\n    assert True\n",
    "docs/api.md": "# API\n",
    ".gitignore": ".brat/local/\n",
}
CONFIG = """\
[mayor]
engine = "planner"
[engine.planner]
type = "codex"
model = "gpt-5"
[engine.default]
type = "claude-code"
[engine.tests]
type = "aider"
model = "gpt-4o"
[engine.docs]
type = "codex"
"""


def step(title: str, engine: str = "default", **given: object) -> dict[str, Any]:
    return {
        "title": title,
        "instructions": f"{title}. It is done when the tests pass.",
        "engine": engine,
        "why": "It is one piece of the module.",
        **given,
    }


PLAN = [
    step("Implement JWT token generation", paths=["auth/tokens.py"]),
    step("Implement JWT verification", paths=["auth/middleware.py"], after=[1]),
    step("Return a JWT from the login endpoint", paths=["auth/login.py"], after=[2]),
    step("Test token generation", "tests", paths=["tests/test_tokens.py"], after=[1]),
    step("Test the middleware", "tests", creates=["tests/test_jwt.py"], after=[2]),
    step("Update the API documents", "docs", paths=["docs/api.md"], after=[3]),
]


@contextmanager
def model(folder: Path, *answers: str) -> Iterator[str]:
    """Give the address of a model that answers each attempt at a plan in turn."""
    first, *rest = (f"```json\n{answer}\n```" for answer in answers)
    cases = [
        Case(when=(ASKED, f"attempt {number}"), closing=answer)
        for number, answer in enumerate(rest, 2)
    ]
    script = folder / "script.json"
    script.write_bytes(dump(Script(cases=(*cases, Case(when=(ASKED,), closing=first)))))
    log = str(folder / "calls.jsonl")
    options = ("--script", str(script), "--log", log)
    process = Process("tests.world.vendor", *options, log=folder / "vendor.log")
    try:
        yield str(json.loads(process.ready())["url"])
    finally:
        process.stop()


def auth(folder: Path) -> Terminal:
    terminal = new_terminal(folder)
    terminal.commit("Sign people in", AUTH | {".brat/config.toml": CONFIG})
    terminal.done("brat init")
    return terminal


def planned(terminal: Terminal, url: str) -> dict[str, Any]:
    path = os.pathsep.join((str(PROGRAMS), *os.get_exec_path()))
    env = f"env {MODEL_URL}={url} PATH={terminal.environment()['PATH']}:{path}"
    said = terminal.type(
        f"{env} brat mayor start --task '{JWT}'", deadline_s=patient(300)
    )
    assert said.status == 0, said.err
    [convoy] = json.loads(terminal.type("brat status --json").out)["convoys"]
    return dict(convoy)


@pytest.mark.needs("codex")
def test_the_seeds_example_is_planned_by_a_real_cli(tmp_path: Path) -> None:
    terminal = auth(tmp_path)
    with model(tmp_path, json.dumps({"tasks": PLAN})) as url:
        convoy = planned(terminal, url)

    tasks = convoy["tasks"]
    assert [task["after"] for task in tasks] == [[], [1], [2], [1], [2], [3]]
    assert [task["engine"] for task in tasks] == [
        *["default"] * 3,
        *["tests"] * 2,
        "docs",
    ]
    assert {task["state"] for task in tasks} == {"queued"}
    log = terminal.done("brat log show -n 100")
    assert "Planned 6 tasks (engine planner)." in log
    assert left_running(terminal.cwd) == []


# --- the notification system ---------------------------------------------------------

NOTIFY = """\
Add notifications.

- [ ] Build the notification API endpoints paths: src/routes/, src/validators/
- [ ] Build the notification UI components paths: src/components/, src/hooks/
- [ ] Create the database layer paths: prisma/, src/repositories/
"""
WRITES = {
    1: "src/routes/notifications.ts",
    2: "src/components/Bell.tsx",
    3: "prisma/notifications.sql",
}
MEETING = """\
# Does its task only when all three are at work: so they really run at the same time.
mkdir -p '{meeting}'
: > '{meeting}/'$BRAT_TASK
tries=0
until [ "$(ls '{meeting}' | wc -l)" = 3 ]; do
    tries=$((tries + 1)); [ $tries -lt 3000 ] || exit 1
    sleep 0.1
done
case $BRAT_TASK in {cases} esac
mkdir -p "$(dirname "$file")"; echo done > "$file"
"""
SHELL = (
    '[engine.default]\ntype = "shell"\nargs = ["my-agent"]\n[ci]\ncommand = "true"\n'
    + NO_BOX
)


def test_the_notification_system_is_built_by_three_at_the_same_time(
    tmp_path: Path,
) -> None:
    terminal = new_terminal(tmp_path)
    cases = " ".join(f"{n}) file={name};;" for n, name in WRITES.items())
    agent = MEETING.format(meeting=tmp_path / "meeting", cases=cases)
    terminal.install("my-agent", agent)
    files = {"README.md": "# App\n", ".brat/config.toml": SHELL, "issue.md": NOTIFY}
    terminal.commit("Begin", files)
    terminal.install("ask", 'brat mayor start --headless --task "$(cat issue.md)"\n')

    said = terminal.type("ask", deadline_s=patient(400))

    assert said.status == 0, said.err
    spans = running(terminal)
    assert len(spans) == 3
    begun, ended = zip(*spans.values(), strict=True)
    assert max(begun) < min(ended), "they did not run at the same time"
    [convoy] = json.loads(terminal.type("brat status --json").out)["convoys"]
    assert {task["state"] for task in convoy["tasks"]} == {"merged"}


def running(terminal: Terminal) -> dict[int, tuple[int, int]]:
    bare = terminal.cwd / ".git/brat/forge/repos/pat-person/project.git"
    found: dict[int, list[int]] = {}
    for row in rows(bare):
        if row.fact and row.fact["type"] in ("session.running", "session.exited"):
            found.setdefault(row.fact["task"], []).append(row.at_ms)
    return {task: (min(times), max(times)) for task, times in found.items()}
