"""A forge's repository on this disk, and jobs on it: real git, real processes."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from convoy.events import Claim
from convoy.events.session_events import TaskStarted
from convoy.log import body_of
from convoy.log.record import fact_of
from convoy.model import ids
from convoy.model.records import EngineSpec, Gate, Limits
from grite import chunk
from grite.event import CommentAdded, Event
from grite.signatures import Writer, signer_line
from grite.wal import Log
from tests.world.given_secrets import given, given_in, written
from tests.world.local_log import appended
from tests.world.log_keys import LOG_KEY
from tests.world.patience import patient
from tests.world.program import ran
from tests.world.staying import until

TOKEN = given("made-up-secret-0123456789")
SESSION = "0123456789abcdef" * 2
REPOSITORY_ID = "4711"
ALLOWED = signer_line(LOG_KEY.public, "the bot's")
CONVOY, TASK, ATTEMPT = "fix-login-7", 2, 1
WAIT_S = patient(45)
NEVER_S = 600
"""No agent that is to succeed works for so long."""
TESTS = str(Path(__file__).parents[1])
"""Agents of tests read what is there, and what lies in the forge's `open`."""
BASE_FILES = {"README.md": "hello\n", "src/a.py": "A = 1\n", ".gitignore": "*.log\n"}

CLEAN = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
    **{f"GIT_{who}_NAME": "t" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "t@example.org" for who in ("AUTHOR", "COMMITTER")},
}


def on_forge(url: str) -> dict[str, str]:
    """Return what a forge tells each job of where it runs."""
    return {
        "GITHUB_SERVER_URL": url,
        "GITHUB_REPOSITORY": "octo/hello",
        "GITHUB_REPOSITORY_ID": REPOSITORY_ID,
    }


def started(**changes: object) -> TaskStarted:
    """Return a task of which only what is given matters."""
    dull = TaskStarted(
        convoy=CONVOY,
        task=TASK,
        attempt=ATTEMPT,
        session=SESSION,
        nonce="n0nce",
        base="0" * 40,
        branch=ids.task_branch(CONVOY, TASK),
        title="Greet the world",
        instructions="Write greeting.txt.",
        engine=EngineSpec(type="shell"),
        limits=Limits(),
        gate=Gate(),
    )
    return msgspec.structs.replace(dull, **changes)


def git(*args: str, cwd: Path) -> str:
    done = subprocess.run(
        ["git", *args], cwd=cwd, env=CLEAN, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(errors="surrogateescape").strip()


@dataclass(frozen=True)
class Left:
    status: int
    out: str
    err: str
    folder: Path

    @property
    def result(self) -> dict[str, Any]:
        found = json.loads((self.folder / "result.json").read_text())
        assert isinstance(found, dict)
        return found

    @property
    def names(self) -> set[str]:
        return {each.name for each in self.folder.iterdir()}

    @property
    def claims(self) -> list[Claim]:
        found = chunk.decode((self.folder / "events.bin").read_bytes())
        assert not found.faults
        kinds = [event.kind for event in found.events]
        facts = [fact_of(each.body) for each in kinds if isinstance(each, CommentAdded)]
        claims = [fact for fact in facts if isinstance(fact, Claim)]
        assert len(claims) == len(found.events)
        return claims

    @property
    def transcript(self) -> list[dict[str, Any]]:
        lines = (self.folder / "transcript.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    @property
    def said(self) -> str:
        return "".join(line.get("text", "") for line in self.transcript)

    @property
    def told(self) -> list[dict[str, Any]]:
        """What the transcript tells of the session itself."""
        return [line["event"] for line in self.transcript if "event" in line]


@dataclass
class Forge:
    """A repository `octo/hello` below `root`, with one commit and a log."""

    root: Path
    base: str = field(init=False)
    writer: Writer | None = field(default_factory=lambda: LOG_KEY.writer(REPOSITORY_ID))
    """Who signs the log."""

    def __post_init__(self) -> None:
        self.bare = self.root / "octo/hello.git"
        self.bare.mkdir(parents=True)
        git("init", "-q", "--bare", "-b", "main", cwd=self.bare)
        git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=self.bare)
        git("init", "-q", "-b", "main", str(self.root / "seed"), cwd=self.root)
        self.commit_on_main(BASE_FILES, mode=0o644)
        self.commit_on_main({"README.md": "hello, world\n"}, mode=0o644)

    def commit_on_main(self, files: Mapping[str, str], mode: int = 0o755) -> None:
        seed = self.root / "seed"
        for name, text in files.items():
            (seed / name).parent.mkdir(parents=True, exist_ok=True)
            (seed / name).write_text(text)
            (seed / name).chmod(mode)
        git("add", "-A", cwd=seed)
        git("commit", "-q", "-m", "More", cwd=seed)
        git("push", "-q", str(self.bare), "main", cwd=seed)
        self.base = git("rev-parse", "HEAD", cwd=seed)

    def started(
        self, *argv: str, timeout_s: int = NEVER_S, **changes: object
    ) -> TaskStarted:
        """Return a task that runs `argv`."""
        engine = EngineSpec(type="shell", args=argv, timeout_s=timeout_s)
        return started(**{"base": self.base, "engine": engine, **changes})

    def hand_off(self, started: TaskStarted, at_ms: int | None = None) -> str:
        """Write the log's commit that starts the task."""
        event = Event(
            issue=ids.issue_of(started.convoy, started.task),
            actor=b"b" * 16,
            ts=time.time_ns() // 1_000_000 if at_ms is None else at_ms,
            kind=CommentAdded(body_of(started, "It starts.")),
        )
        return self.log([event])

    def log(self, events: Sequence[Event]) -> str:
        log = Log(self.bare, self.writer)
        return appended(
            log, events, after=log.head(), actor=b"b" * 16, at_ms=1_700_000_000_000
        )

    def environment(self, log: str, **changes: str | None) -> dict[str, str]:
        """Return what a job is told; a change to None leaves a variable out."""
        env: Mapping[str, str | None] = {
            "PATH": os.environ["PATH"],
            "BRAT_SESSION": ids.session_name(CONVOY, TASK, ATTEMPT),
            "BRAT_LOG": log,
            "BRAT_RESULT": str(self.root / "result"),
            "BRAT_TOKEN": TOKEN,
            **on_forge(f"file://{self.root}"),
            "BRAT_ALLOWED_SIGNERS": ALLOWED,
            "GITHUB_RUN_ID": "1",
            "RUNNER_TEMP": str(self.root / "temp"),
            "GITHUB_WORKSPACE": str(self.root / "work"),
            "BRAT_SHOWN": os.pathsep.join((TESTS, str(self.root / "open"))),
            **changes,
        }
        told = {name: value for name, value in env.items() if value is not None}
        given_in(told)
        return told

    def start(
        self, env: Mapping[str, str], cwd: Path | None = None, fds: Sequence[int] = ()
    ) -> subprocess.Popen[str]:
        """Start a job as the workflow does, with all warnings on."""
        return subprocess.Popen(
            [sys.executable, "-I", "-X", "dev", "-W", "error", "-m", "runner"],
            cwd=cwd or self.root,
            env=dict(env),
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def left_by(self, job: subprocess.Popen[str]) -> Left:
        with job:
            try:
                out, err = job.communicate(timeout=WAIT_S)
            finally:
                job.kill()
        return Left(job.returncode, out, written(err), self.root / "result")

    def begin(self, log: str, **changes: str | None) -> subprocess.Popen[str]:
        """Start a job that is handed this commit of the log."""
        return self.start(self.environment(log, **changes))

    def run(self, started: TaskStarted, **changes: str | None) -> Left:
        return self.left_by(self.begin(self.hand_off(started), **changes))

    def until_said(self, words: str) -> None:
        """Wait until the agent has said this."""
        transcript = self.root / "result/transcript.jsonl"
        until(lambda: transcript.exists() and words in transcript.read_text())

    def program(self, text: str, *names: str) -> str:
        """Install programs of this text; return the path they are on."""
        folder = self.root / "programs"
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    def run_on(
        self,
        machine: Sequence[str],
        env: Mapping[str, str],
        python: str | Path = sys.executable,
    ) -> Left:
        """Run a job on the machine that is made by a command line before it."""
        done = ran((*machine, python, "-I", "-m", "runner"), env=env)
        return Left(done.returncode, done.stdout, done.stderr, self.root / "result")

    def sh(self, script: str, timeout_s: int = NEVER_S, **changes: object) -> Left:
        argv = ("sh", "-c", script)
        return self.run(self.started(*argv, timeout_s=timeout_s, **changes))

    def python(self, script: str, timeout_s: int = NEVER_S, **changes: object) -> Left:
        argv = (sys.executable, "-I", "-c", script)
        return self.run(self.started(*argv, timeout_s=timeout_s, **changes))

    def overdue(
        self,
        run: Callable[[int], Left],
        has_begun: Callable[[Left], bool],
        limit_s: int = 1,
    ) -> Left:
        """Run a session that does not end, with a limit that lets it begin.

        The limit, in seconds, is doubled until it was long enough.
        """
        left = run(limit_s)
        while left.result["conclusion"] == "timed_out" and not has_begun(left):
            shutil.rmtree(left.folder)
            limit_s *= 2
            left = run(limit_s)
        return left

    def unpacked(
        self, left: Left | None = None, name: str = "work.bundle", of: str | Path = ""
    ) -> Path:
        """Return a clone of the forge that has fetched the job's bundle as `work`."""
        clone = self.root / "clone"
        folder = left.folder if left else self.root / "result"
        git("clone", "-q", str(of or self.bare), str(clone), cwd=self.root)
        git("fetch", "-q", str(folder / name), "HEAD:refs/heads/work", cwd=clone)
        return clone
