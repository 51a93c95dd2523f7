"""One repository's feed: which sessions may use it, and the data they sent.

A session's output is in a file, of which each line is one numbered piece. Numbers only
go up, and the file notes missing pieces. One process writes it, any may read it.

A session's token is a digest of its name with a key in the bot's folder, so nothing has
to be stored. It is valid as long as the session runs. On this machine, the bot notes
its port in its folder; the process that starts the runner reads it there, and the
runner gets address and token through a descriptor.
"""

import asyncio
import hmac
import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from convoy.events.people_events import TaskHeard
from convoy.model import ids
from convoy.model.state import State
from convoy.model.work import Attempt, Message
from convoy.text import clean

KEY_FILE: Final = "feed.key"


def kept_key(file: Path, size: int = 32) -> bytes:
    """Return the key in a file, which is made the first time, for its owner alone."""
    if not file.exists():
        beside = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        beside.touch(mode=0o600)
        beside.write_text(secrets.token_hex(size))
        try:
            os.link(beside, file)  # the first process wins
        except FileExistsError:
            pass
        finally:
            beside.unlink()
    return bytes.fromhex(file.read_text().strip())


def session_token(key: bytes, repository: str, session: str) -> str:
    said = f"feed/v1\n{repository.casefold()}\n{session}"
    return hmac.digest(key, said.encode(), "sha256").hex()


class JobOrigin(NamedTuple):
    repository: str
    repository_id: int
    workflow: str
    """The workflow file at a ref: `<owner>/<name>/<path>@<ref>`."""


FEED_PATH: Final = "/feed/v1"
_PORT_FILE: Final = "feed.json"


def note_port(folder: Path, port: int) -> None:
    """Note that the feed of the bot in this folder is on this port of this machine."""
    kept_key(folder / KEY_FILE)
    beside = folder / f".{_PORT_FILE}.{secrets.token_hex(4)}"
    beside.write_text(json.dumps({"port": port}))
    beside.rename(folder / _PORT_FILE)


def noted_port(folder: Path) -> int:
    try:
        port = json.loads((folder / _PORT_FILE).read_bytes())["port"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return port if isinstance(port, int) else 0


def free_port(folder: Path) -> int:
    """Return the port noted last if it is free now, else 0.

    Sessions that an earlier bot began still send to that port.
    """
    port = noted_port(folder)
    try:
        with socket.create_server(("127.0.0.1", port)):
            return port
    except (OSError, OverflowError):
        return 0


def session_handover(folder: Path, repository: str, session: str) -> bytes:
    """Return the feed's address and token for a session's runner; empty: no feed."""
    port = noted_port(folder)
    if not port or not session:
        return b""
    key = kept_key(folder / KEY_FILE)
    told = {
        "url": f"http://127.0.0.1:{port}{FEED_PATH}/{repository}/{session}",
        "token": session_token(key, repository, session),
    }
    return json.dumps(told).encode()


OUTPUT_FILE_BYTES: Final = 8_000_000
"""A file larger than this loses its older half."""


class OutputPiece(NamedTuple):
    number: int
    text: str


class SessionOutput:
    """The output of one session; for one event loop."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.next = 0
        file.parent.mkdir(parents=True, exist_ok=True)
        data = file.read_bytes() if file.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):  # a crash has cut the last line off
            os.truncate(file, len(whole))
        for piece in pieces_in(whole):
            self.next = piece.number + 1

    def add(self, first: int, texts: Sequence[str]) -> None:
        """Add the pieces from number `first` on; known ones are skipped."""
        new: list[OutputPiece] = []
        if first > self.next and texts:
            said = f"[brat omitted {first - self.next} chunks of output here]\n"
            new.append(OutputPiece(first - 1, said))
        new += [
            OutputPiece(number, text)
            for number, text in enumerate(texts, first)
            if number >= self.next
        ]
        if not new:
            return
        lines = "".join(json.dumps({"n": n, "text": t}) + "\n" for n, t in new)
        with self.file.open("ab") as file:
            file.write(lines.encode())
            size = file.tell()
        if size > OUTPUT_FILE_BYTES:
            # The newer half goes to a new file: a reader of the old file can finish.
            kept = self.file.read_bytes()[-OUTPUT_FILE_BYTES // 2 :].partition(b"\n")[2]
            beside = self.file.with_suffix(".new")
            beside.write_bytes(kept)
            beside.replace(self.file)
        self.next = new[-1].number + 1


def pieces_in(data: bytes) -> Iterator[OutputPiece]:
    """Give the pieces in a file's bytes, which may begin or end in mid-line."""
    for line in data.splitlines():
        try:
            told = json.loads(line)
            yield OutputPiece(int(told["n"]), str(told["text"]))
        except (ValueError, KeyError, TypeError):
            continue  # cut off by a crash


LOOK_S: Final = 0.2
SILENT_S: Final = 60.0
"""A witness that has not asked for messages for this long is gone."""
LAST_BYTES: Final = 64 * 1024
"""How much of the end of a session's output is shown to people."""
BRIEF_BYTES: Final = 4 * 1024
"""And how much where its last line is all that is wanted."""
KEPT_S: Final = 14 * 86_400


def tape_file(folder: Path, session: str) -> Path:
    convoy, task, attempt = ids.parse_session(session)
    return folder / "feed" / convoy / f"{task}-{attempt}.jsonl"


def checkpoint_file(folder: Path, session: str) -> Path:
    return tape_file(folder, session).with_suffix(".bundle")


def last_output(folder: Path, session: str, most: int = LAST_BYTES) -> str:
    """Return the end of a session's output, with colours; empty: none is kept."""
    try:
        data = tape_file(folder, session).read_bytes()
    except (FileNotFoundError, ValueError):
        return ""
    text = "".join(piece.text for piece in pieces_in(data[-most:]))
    return clean(text, colours=True)


@dataclass(eq=False)
class Feed:
    """Receives what one repository's running sessions send; for one event loop."""

    folder: Path
    """The bot's."""
    repository: str
    state: Callable[[], State]
    news: Callable[[], None] = lambda: None
    """Called when `owed` has something new."""
    origin: Callable[[], JobOrigin | None] = lambda: None
    """Returns the origin of the sessions' jobs, if the forge vouches for them."""
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._key = kept_key(self.folder / KEY_FILE)
        self._tapes: dict[str, SessionOutput] = {}
        self._ears: dict[str, float] = {}
        self._heard: dict[str, int] = {}

    def admits(self, session: str, shown: str) -> bool:
        wanted = self.token(session).encode()
        return hmac.compare_digest(wanted, shown.encode(errors="replace"))

    def token(self, session: str) -> str:
        """Return a session's token, which only its job may learn."""
        return session_token(self._key, self.repository, session)

    def claims(self, session: str) -> Mapping[str, str] | None:
        """Return the claims of a running session's job; None: they are not known."""
        attempt, origin = self.attempt(session), self.origin()
        if attempt is None or attempt.run is None or origin is None:
            return None
        return {
            "repository_id": str(origin.repository_id),
            "repository": origin.repository,
            "run_id": str(attempt.run),
            "run_attempt": "1",
            "event_name": "workflow_dispatch",
            "workflow_ref": origin.workflow,
            "job_workflow_ref": origin.workflow,
        }

    def attempt(self, session: str) -> Attempt | None:
        try:
            name, number, attempt = ids.parse_session(session)
        except ValueError:
            return None
        convoy = self.state().convoys.get(name)
        task = convoy.in_session(number) if convoy else None
        if task is None or task.attempt is None or task.attempt.number != attempt:
            return None
        return task.attempt

    async def messages(
        self, session: str, after: int, wait_s: float
    ) -> tuple[Message, ...]:
        """Return messages after the first `after`, waiting `wait_s` for one."""
        until = self.clock() + wait_s
        while (attempt := self.attempt(session)) is not None:
            self._ears[session] = self.clock()
            if new := attempt.messages[after:]:
                return new
            if self.clock() >= until:
                break
            await asyncio.sleep(LOOK_S)
        return ()

    def listens(self, session: str) -> bool:
        asked = self._ears.get(session)
        return asked is not None and self.clock() - asked < SILENT_S

    def note_heard(self, session: str, messages: int) -> None:
        attempt = self.attempt(session)
        if attempt is None or not attempt.heard < messages <= len(attempt.messages):
            return
        if self._heard.get(session) != messages:
            self._heard[session] = messages
            self.news()

    def owed(self) -> Iterator[TaskHeard]:
        """Give the counts that the log lacks; forget those that it holds."""
        for session, messages in list(self._heard.items()):
            attempt = self.attempt(session)
            if attempt is None or attempt.heard >= messages:
                del self._heard[session]
                continue
            convoy, task, number = ids.parse_session(session)
            yield TaskHeard(convoy=convoy, task=task, attempt=number, messages=messages)

    def keep(self, session: str, bundle: bytes) -> None:
        """Keep a session's checkpoint in place of the earlier one; blocking.

        After a crash, one of the two is there and complete.
        """
        file = checkpoint_file(self.folder, session)
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(".part")
        with beside.open("wb") as unfinished:
            unfinished.write(bundle)
            unfinished.flush()
            os.fsync(unfinished.fileno())
        beside.replace(file)

    def kept(self, session: str) -> bytes:
        """Return a session's newest checkpoint, unchecked; empty: there is none."""
        try:
            return checkpoint_file(self.folder, session).read_bytes()
        except OSError:
            return b""

    def tape(self, session: str) -> SessionOutput:
        tape = self._tapes.get(session)
        if tape is None:
            self.forget()
            tape = self._tapes[session] = SessionOutput(tape_file(self.folder, session))
        return tape

    def forget(self) -> None:
        for session in [each for each in self._tapes if self.attempt(each) is None]:
            del self._tapes[session]
            self._ears.pop(session, None)
        for file in (self.folder / "feed").glob("*/*.[bp]*"):  # .bundle, .part
            session = f"{file.parent.name}/{file.stem.replace('-', '/')}"
            if self.attempt(session) is None:
                file.unlink(missing_ok=True)
        oldest = time.time_ns() / 1e9 - KEPT_S
        for file in (self.folder / "feed").glob("*/*.jsonl"):
            if file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)
