"""The result folder: what a job leaves, whatever happened.

Each file is whole or not there, and result.json comes last: a folder with it has all.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from convoy import codec, ids
from convoy.events import Claim, TaskStarted, Usage as Used, Verdict
from convoy.notes import Left
from convoy.outcome import Outcome
from convoy.told.sentences import sentence
from convoy.usage import plus, priced
from grite import chunk
from grite.event import CommentAdded, Event
from runner.engines.events import Cost, Usage
from runner.engines.hearing import Status

RESULT, EVENTS, BUNDLE = "result.json", "events.bin", "work.bundle"
CHECKPOINT = "checkpoint.bundle"
TRANSCRIPT, USAGE = "transcript.jsonl", "usage.jsonl"


class EngineUsed(msgspec.Struct, frozen=True, kw_only=True):
    """Which kind of agent it was."""

    type: str
    model: str | None
    session: str
    """Its own name for the session; empty: it has none."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What result.json says: claims, all of them."""

    v: Literal[1] = 1
    session: str
    convoy: str
    task: int
    attempt: int
    nonce: str
    status: Status | None
    """The agent's word."""
    conclusion: Verdict
    """The witness's."""
    outcome: Outcome
    """How the session ended, the witness's word, too."""
    retry_after_s: float | None
    """What the model's vendor asked for; None: it did not."""
    why: str
    """One sentence."""
    summary: str
    left: Left = Left()
    """What the agent leaves for others: notes, lines for all, further work."""
    report: str = ""
    """The plan or the report that it answered with; empty: it has none."""
    base: str
    commit: str | None
    """The newest commit in work.bundle."""
    exit_code: int | None
    signal: int | None
    files: tuple[str, ...]
    """What changed against the base, at most the first thousand."""
    accepted: bool | None = None
    """Whether the acceptance command exited with 0; None: it was not run."""
    refusals: tuple[str, ...]
    """Why the patch gate would not let it land."""
    seconds: float
    """Of the engine."""
    engine: EngineUsed
    network: str = ""
    """Why its network was not closed, where it was to be; empty: all is as it was to
    be."""
    box: str = ""
    """Why it had no users, processes and mounts of its own; empty: it had."""
    usage: Used
    """What it used, as the engine says; money by its price where it does not."""


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
            kind=CommentAdded(codec.body_of(fact, sentence(fact))),
        )
        self._events.append(event)
        self._write(EVENTS, chunk.encode(self._events))

    def keep(self, bundle: Path) -> None:
        """Move the bundle here."""
        shutil.move(bundle, self.path / BUNDLE)

    def keep_so_far(self, bundle: bytes) -> None:
        """Keep the newest checkpoint, in the place of an earlier one."""
        self._write(CHECKPOINT, bundle)

    def note(self, used: Usage | Cost) -> None:
        """Add a line on what the engine used; no file when it does not say."""
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
        """The sum of what was noted, with what it cost."""
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
