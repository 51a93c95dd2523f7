"""Where the witness is measured: a repository, a log that starts tasks, an agent.

The agent stands in for a real one: a shell script under the name of an engine whose key
is held by the proxy. It says when it began, waits for its gate, says when it ended.
"""

import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.bare_loop import call
from bot.settings.bot_folder import log_key_in
from convoy.events.session_events import TaskStarted
from convoy.log import body_of
from convoy.model import ids
from convoy.model.records import EngineSpec, Gate, Limits
from grite import git
from grite.event import CommentAdded, Event
from grite.signatures import Writer
from grite.wal import Log
from tests.world.local_log import appended

BOT: Final = b"b" * 16
CONVOY: Final = "measured-1"
REPOSITORY_ID: Final = "1"
TIMEOUT_S: Final = 600
_AGENT: Final = """\
#!/bin/sh
: > began
read -r _ < "{place}/gates/gate-$BRAT_TASK"
echo done > "work-$BRAT_TASK.txt"
now=$(date +%s.%N)
echo '{{"type": "result", "subtype": "success", "result": "BRAT: done '$now'"}}'
"""


@dataclass(frozen=True)
class Place:
    """A folder in which sessions are run, and what they leave there."""

    folder: Path
    logs: tuple[str, ...]
    """The log's commits that start tasks 1, 2, and so on."""
    allowed: str
    """The line that allows the log's key."""

    @property
    def count(self) -> int:
        """How many sessions there are."""
        return len(self.logs)

    def began_at(self, number: int) -> float | None:
        """Return when a waiting agent made its first file; None: it has not."""
        for each in self.folder.glob(f"runner-{number}/work/*/began"):
            return each.stat().st_mtime
        return None

    def ended_at(self, number: int) -> float:
        """Return when a task's agent ended, as it said itself."""
        result = json.loads(self.result(number).read_text(encoding="utf-8"))
        return float(result["summary"])

    def gate(self, number: int) -> Path:
        """Return the pipe that a task's agent reads a line from."""
        return self.folder / f"gates/gate-{number}"

    def result(self, number: int) -> Path:
        """Return the file that says that all is done."""
        return self.folder / f"result-{number}/result.json"

    def environment(self, number: int) -> dict[str, str]:
        """Return what the runner of a task is told."""
        own = self.folder / f"runner-{number}"
        return {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "BRAT_SESSION": ids.session_name(CONVOY, number, 1),
            "BRAT_LOG": self.logs[number - 1],
            "BRAT_RESULT": str(self.folder / f"result-{number}"),
            "BRAT_TOKEN": "a-token-for-a-file-needs-no-secret",
            "BRAT_SHOWN": str(self.folder / "gates"),
            "BRAT_MODEL_URL": "http://127.0.0.1:9",
            "GITHUB_SERVER_URL": f"file://{self.folder}",
            "GITHUB_REPOSITORY": "octo/hello",
            "GITHUB_REPOSITORY_ID": REPOSITORY_ID,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "BRAT_ALLOWED_SIGNERS": self.allowed,
            "RUNNER_TEMP": str(own / "temp"),
            "GITHUB_WORKSPACE": str(own / "work"),
        }


RUNNER: Final = (sys.executable, "-I", "-m", "runner")


def source(folder: Path, files: int) -> Path:
    """Make a project of so many files, with a branch main of one commit."""
    folder.mkdir(parents=True)
    call("git", "init", "-q", "-b", "main", cwd=folder)
    for number in range(files):
        file = folder / f"src/part{number // 100}/module{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'"""Module {number}."""\n' * 40, encoding="utf-8")
    call("git", "add", "--all", cwd=folder)
    call("git", "commit", "-q", "-m", "Begin", cwd=folder)
    return folder


def make(folder: Path, project: Path, count: int) -> Place:
    """Make a forge's repository from `project` with a log that starts `count` tasks."""
    bare = folder / "octo/hello.git"
    bare.parent.mkdir(parents=True)
    call("git", "clone", "-q", "--bare", str(project), str(bare), cwd=folder)
    call("git", "config", "uploadpack.allowAnySHA1InWant", "true", cwd=bare)
    base = git.run(["rev-parse", "main"], cwd=bare).stdout.decode().strip()
    agent = folder / "bin/claude"
    agent.parent.mkdir()
    agent.write_text(_AGENT.format(place=folder), encoding="utf-8")
    agent.chmod(0o755)
    key, begun_ms = log_key_in(folder), time.time_ns() // 1_000_000
    log, logs = Log(bare, Writer(REPOSITORY_ID, key.sign)), []
    for number in range(1, count + 1):
        start = _start(number, base, begun_ms + number)
        logs.append(
            appended(log, [start], after=log.head(), actor=BOT, at_ms=begun_ms + number)
        )
    place = Place(folder, tuple(logs), key.line)
    event = '{"repository": {"default_branch": "main"}}'
    (folder / "event.json").write_text(event, encoding="utf-8")
    (folder / "gates").mkdir()
    for number in range(1, count + 1):
        os.mkfifo(place.gate(number))
        place.gate(number).chmod(0o644)
    return place


def _start(number: int, base: str, at_ms: int) -> Event:
    started = TaskStarted(
        convoy=CONVOY,
        task=number,
        attempt=1,
        session=f"{number:032x}",
        nonce=f"{number:016x}",
        base=base,
        branch=ids.task_branch(CONVOY, number),
        title=f"Task {number}",
        instructions="Write a file.",
        engine=EngineSpec(type="claude-code", timeout_s=TIMEOUT_S),
        limits=Limits(),
        gate=Gate(),
    )
    kind = CommentAdded(body_of(started, "It starts."))
    issue = ids.issue_of(CONVOY, number)
    return Event(issue=issue, actor=BOT, ts=at_ms, kind=kind)
