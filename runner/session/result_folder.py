"""The result folder, which a job leaves behind whatever happened.

Each file is whole or missing. result.json is written last: a folder that has it is
complete.

The beginning of transcript.jsonl is written as it comes, so that it stays if the job is
killed; its end is kept in memory until it is known to be the end. Output arrives in
pieces that may cut a secret in two, so only whole lines are passed on; of an unfinished
line a part is held back that is longer than any secret.
"""

import codecs
import json
import os
import shutil
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

import msgspec

from convoy.events import Claim
from convoy.events.session_events import TaskStarted
from convoy.log import body_of
from convoy.model import ids
from convoy.model.records import Usage as Used, Verdict
from convoy.model.session_result import Left, Outcome, Walls, priced
from convoy.text.redaction import Redaction
from grite import chunk
from grite.event import CommentAdded, Event
from runner.box.supervisor import Stream
from runner.engines.engine_events import Cost, Said, Usage
from runner.engines.output_reader import Status

RESULT, EVENTS, BUNDLE = "result.json", "events.bin", "work.bundle"
PATCH = "work.patch"
CHECKPOINT = "checkpoint.bundle"
TURNED_AWAY = "turned-away.json"
TRANSCRIPT, USAGE = "transcript.jsonl", "usage.jsonl"


class EngineUsed(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    model: str | None
    session: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The content of result.json, all of it claims."""

    v: Literal[1] = 1
    session: str
    convoy: str
    task: int
    attempt: int
    nonce: str
    status: Status | None
    conclusion: Verdict
    outcome: Outcome
    retry_after_s: float | None
    """The wait that the model's vendor asked for; None: it asked for none."""
    why: str
    summary: str
    left: Left = Left()
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
    seconds: float
    engine: EngineUsed
    network: str = ""
    """Why its network is not closed though it should be; empty: nothing failed."""
    box: str = ""
    """Why the agent had no users, processes and mounts of its own; empty: it had."""
    walls: Walls = Walls()
    """Which wall stood between the agent and each part of the machine."""
    usage: Used
    """The usage that the engine reports; if it reports no cost, by the price list."""


def leave_turned_away(path: Path, session: str, why: str) -> None:
    """Leave the reason why there is no result, beside whole files only."""
    for cut_off in path.glob(".*"):
        cut_off.unlink()
    said = {"v": 1, "session": session, "why": why}
    _write(path, TURNED_AWAY, msgspec.json.encode(said) + b"\n")


def _write(folder: Path, name: str, content: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)  # the agent may have removed it
    unfinished = folder / f".{name}"
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        if name == RESULT:
            os.fsync(file.fileno())
    unfinished.replace(folder / name)


class Folder(msgspec.Struct):
    path: Path
    _started: TaskStarted
    _now_ms: Callable[[], int]
    _events: list[Event] = []
    _tokens: Used = Used()
    _usd: float | None = None

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)

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
        _write(self.path, EVENTS, chunk.encode(self._events))

    def keep(self, file: Path, name: str) -> None:
        shutil.move(file, self.path / name)

    def keep_so_far(self, bundle: bytes) -> None:
        """Keep the newest checkpoint, replacing the earlier one."""
        _write(self.path, CHECKPOINT, bundle)

    def note(self, used: Usage | Cost) -> None:
        """Add a line on the engine's usage; without a call there is no file."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / USAGE).open("ab") as file:
            file.write(msgspec.json.encode(used) + b"\n")
        if isinstance(used, Usage):
            self._tokens += used.tokens
        else:
            self._usd = (Used(usd=self._usd or 0.0) + Used(usd=used.usd)).usd

    @property
    def used(self) -> Used:
        """The sum of the noted usage, with its cost."""
        return priced(self._tokens, self._usd, self._started.engine.price)

    def close(self, result: Result) -> None:
        """Write result.json; nothing may be added after it."""
        _write(self.path, RESULT, msgspec.json.encode(result) + b"\n")
        (self.path / CHECKPOINT).unlink(missing_ok=True)


LINE_CHARS = 65_536
HELD_BACK_CHARS = 4096


class RedactedStream:
    """One stream; bytes that are not UTF-8 become U+FFFD."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, chunk: bytes) -> str:
        """Return the output that may be shown now; empty when no line has ended."""
        self._held += self._decoder.decode(chunk)
        cut = self._held.rfind("\n") + 1
        if cut == 0 and len(self._held) > LINE_CHARS:
            self._held = self._redaction(self._held)
            cut = len(self._held) - HELD_BACK_CHARS
        return self._release(cut)

    def close(self) -> str:
        self._held += self._decoder.decode(b"", final=True)
        return self._release(len(self._held))

    def _release(self, cut: int) -> str:
        shown, self._held = self._held[:cut], self._held[cut:]
        return self._redaction(shown)


Reader = Callable[[Stream, str], None]


class Transcript:
    """Takes the output of one engine; close it when the engine has ended."""

    def __init__(
        self, path: Path, redaction: Redaction, limit_bytes: int, reader: Reader
    ) -> None:
        """Add so much text to the file, half from the end; the reader gets all."""
        self._file = path.open("a", encoding="utf-8")
        self._started = time.monotonic()
        self._streams: dict[Stream, RedactedStream] = {
            each: RedactedStream(redaction) for each in get_args(Stream)
        }
        self._reader = reader
        self._head_left = limit_bytes // 2
        self._tail_left = limit_bytes - self._head_left
        self._tail: deque[tuple[str, int]] = deque()
        self.dropped = 0
        """Bytes that were left out between the beginning and the end."""

    def write(self, stream: Stream, chunk: bytes) -> None:
        self._show(stream, self._streams[stream].feed(chunk))

    def flush(self) -> None:
        """Pass on the held-back output; call it when no more output comes."""
        for stream, redacted in self._streams.items():
            self._show(stream, redacted.close())

    def close(self) -> None:
        """Write the end; safe to call twice."""
        if self._file.closed:
            return
        self.flush()
        if self.dropped:
            note = f"[brat left out {self.dropped} bytes here]\n"
            self._file.write(self._line(stream="err", text=note))
        self._file.writelines(line for line, _ in self._tail)
        self._file.close()

    def _show(self, stream: Stream, text: str) -> None:
        if not text:
            return
        self._reader(stream, text)
        self._keep(self._line(stream=stream, text=text), len(text.encode()))

    def note(self, said: Said) -> None:
        line = self._line(event=msgspec.to_builtins(said))
        self._keep(line, len(line.encode()) - 1)

    def _keep(self, line: str, size: int) -> None:
        if not self._tail and size <= self._head_left:
            self._head_left -= size
            self._file.write(line)
            self._file.flush()
            return
        self._tail.append((line, size))
        self._tail_left -= size
        while self._tail_left < 0 and len(self._tail) > 1:
            _, gone = self._tail.popleft()
            self._tail_left += gone
            self.dropped += gone

    def _line(self, **said: object) -> str:
        line = {"t": round(time.monotonic() - self._started, 3), **said}
        return json.dumps(line, ensure_ascii=False) + "\n"
