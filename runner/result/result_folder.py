"""The result folder, which a job leaves behind whatever happened.

Each file is whole or missing. result.json is written last: a folder that has it is
complete.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from convoy.events import Claim
from convoy.events.session_events import TaskStarted
from convoy.log import body_of
from convoy.model import ids
from convoy.model.records import Usage as Used, Verdict
from convoy.model.session_result import Left, Outcome, Walls, plus, priced
from grite import chunk
from grite.event import CommentAdded, Event
from runner.engines.engine_events import Cost, Usage
from runner.engines.output_reader import Status

RESULT, EVENTS, BUNDLE = "result.json", "events.bin", "work.bundle"
PATCH = "work.patch"
CHECKPOINT = "checkpoint.bundle"
TURNED_AWAY = "turned-away.json"
TRANSCRIPT, USAGE = "transcript.jsonl", "usage.jsonl"


class EngineUsed(msgspec.Struct, frozen=True, kw_only=True):
    """The kind of agent."""

    type: str
    model: str | None
    session: str
    """The engine's own name for the session; empty: there is none."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The content of result.json, all of it claims."""

    v: Literal[1] = 1
    session: str
    convoy: str
    task: int
    attempt: int
    nonce: str
    status: Status | None
    """The agent's claim about its task."""
    conclusion: Verdict
    """The witness's verdict."""
    outcome: Outcome
    """How the session ended, by the witness's judgement."""
    retry_after_s: float | None
    """The wait that the model's vendor asked for; None: it asked for none."""
    why: str
    """The reason, in one sentence."""
    summary: str
    left: Left = Left()
    """The agent's notes, lines for all sessions, and proposals of further work."""
    report: str = ""
    """The plan or the report that the agent answered with; empty: there is none."""
    base: str
    commit: str | None
    """The newest commit in work.bundle."""
    exit_code: int | None
    signal: int | None
    files: tuple[str, ...]
    """The files changed against the base, at most the first thousand."""
    accepted: bool | None = None
    """Whether the acceptance command exited with 0; None: it was not run."""
    refusals: tuple[str, ...]
    """Why the patch gate would not let the work land."""
    seconds: float
    """How long the engine ran."""
    engine: EngineUsed
    network: str = ""
    """Why its network was not closed although it should have been; empty: nothing
    failed."""
    box: str = ""
    """Why the agent had no users, processes and mounts of its own; empty: it had."""
    walls: Walls = Walls()
    """Which wall stood between the agent and each part of the machine."""
    usage: Used
    """The usage that the engine reports; if it reports no cost, by the price list."""


class TurnedAway(msgspec.Struct, frozen=True, kw_only=True):
    """The content of turned-away.json, which stands alone: no session began."""

    v: Literal[1] = 1
    session: str
    why: str


def leave_turned_away(path: Path, said: TurnedAway) -> None:
    """Leave a folder that only says why the hand-off was not taken."""
    path.mkdir(parents=True, exist_ok=True)
    unfinished = path / f".{TURNED_AWAY}"
    unfinished.write_bytes(msgspec.json.encode(said) + b"\n")
    unfinished.replace(path / TURNED_AWAY)


class Folder:
    """The result folder of one session."""

    def __init__(
        self, path: Path, started: TaskStarted, now_ms: Callable[[], int]
    ) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._started = started
        self._now_ms = now_ms
        self._events: list[Event] = []
        self._tokens = Used()
        self._usd: float | None = None

    def claim(self, fact: Claim) -> None:
        """Add a fact to events.bin, later than all before it."""
        last = self._events[-1].ts if self._events else 0
        event = Event(
            issue=ids.issue_of(self._started.convoy, self._started.task),
            actor=bytes.fromhex(self._started.session),
            ts=max(self._now_ms(), last + 1),
            kind=CommentAdded(body_of(fact, fact.sentence())),
        )
        self._events.append(event)
        self._write(EVENTS, chunk.encode(self._events))

    def keep(self, bundle: Path) -> None:
        """Move the bundle here."""
        shutil.move(bundle, self.path / BUNDLE)

    def keep_patch(self, patch: Path) -> None:
        """Move the patch here."""
        shutil.move(patch, self.path / PATCH)

    def keep_so_far(self, bundle: bytes) -> None:
        """Keep the newest checkpoint, replacing the earlier one."""
        self._write(CHECKPOINT, bundle)

    def note(self, used: Usage | Cost) -> None:
        """Add a line on the engine's usage; without a call there is no file."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / USAGE).open("ab") as file:
            file.write(msgspec.json.encode(used) + b"\n")
        match used:
            case Usage():
                said = Used(
                    input_tokens=used.input_tokens,
                    cached_tokens=used.cached_tokens,
                    output_tokens=used.output_tokens,
                )
                self._tokens = plus(self._tokens, said)
            case Cost():
                said = Used(usd=used.usd)
                self._usd = plus(Used(usd=self._usd or 0.0), said).usd

    @property
    def used(self) -> Used:
        """The sum of the noted usage, with its cost."""
        return priced(self._tokens, self._usd, self._started.engine.price)

    def close(self, result: Result) -> None:
        """Write result.json; nothing may be added after it."""
        self._write(RESULT, msgspec.json.encode(result) + b"\n")
        (self.path / CHECKPOINT).unlink(missing_ok=True)

    def _write(self, name: str, content: bytes) -> None:
        # The agent may have removed the folder.
        self.path.mkdir(parents=True, exist_ok=True)
        unfinished = self.path / f".{name}"
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            if name == RESULT:
                os.fsync(file.fileno())
        unfinished.replace(self.path / name)
