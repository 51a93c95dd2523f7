"""One session's output: the newest part in memory, more of it in a file.

Each line of the file is one numbered piece. Numbers only go up, and the file notes
missing pieces. One process writes it, any may read it.
"""

import asyncio
import json
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

RING_CHARS: Final = 262_144
FILE_BYTES: Final = 8_000_000
"""A file larger than this loses its older half."""


class Piece(NamedTuple):
    """A piece of output, redacted by the witness."""

    number: int
    text: str


class SessionOutput:
    """The output of one session; for one event loop."""

    def __init__(self, file: Path) -> None:
        """Continue `file`, or create it."""
        self.file = file
        self.next = 0
        """The number of the next piece."""
        self._ring: deque[Piece] = deque()
        self._chars = 0
        self._news = asyncio.Condition()
        file.parent.mkdir(parents=True, exist_ok=True)
        for piece in pieces_in(_read(file)):
            self._remember(piece)

    async def add(self, first: int, texts: Sequence[str]) -> None:
        """Add the pieces from number `first` on; known ones are skipped."""
        new: list[Piece] = []
        if first > self.next and texts:
            said = f"[brat left out {first - self.next} pieces of the output here]\n"
            new.append(Piece(first - 1, said))
        new += [
            Piece(number, text)
            for number, text in enumerate(texts, first)
            if number >= self.next
        ]
        if not new:
            return
        self._write(new)
        async with self._news:
            for piece in new:
                self._remember(piece)
            self._news.notify_all()

    async def after(self, number: int, wait_s: float) -> tuple[Piece, ...]:
        """Return the newest pieces after a number, waiting up to `wait_s` for one."""
        if self.next <= number + 1 and wait_s > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s), self._news:
                    await self._news.wait_for(lambda: self.next > number + 1)
        return tuple(piece for piece in self._ring if piece.number > number)

    def _remember(self, piece: Piece) -> None:
        self._ring.append(piece)
        self._chars += len(piece.text)
        self.next = piece.number + 1
        while self._chars > RING_CHARS and len(self._ring) > 1:
            self._chars -= len(self._ring.popleft().text)

    def _write(self, pieces: Sequence[Piece]) -> None:
        lines = "".join(json.dumps({"n": n, "text": t}) + "\n" for n, t in pieces)
        with self.file.open("ab") as file:
            file.write(lines.encode())
            size = file.tell()
        if size > FILE_BYTES:
            self._leave_out()

    def _leave_out(self) -> None:
        """Keep the newer half in a new file: a reader of the old file can finish."""
        kept = self.file.read_bytes()[-FILE_BYTES // 2 :].partition(b"\n")[2]
        beside = self.file.with_suffix(".new")
        beside.write_bytes(kept)
        beside.replace(self.file)


def pieces_in(data: bytes) -> Iterator[Piece]:
    """Give the pieces in a file's bytes, which may begin or end in mid-line."""
    for line in data.splitlines():
        try:
            told = json.loads(line)
            yield Piece(int(told["n"]), str(told["text"]))
        except (ValueError, KeyError, TypeError):
            continue  # cut off by a crash


def _read(file: Path) -> bytes:
    """Return the file's bytes; a last line cut off by a crash is removed."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return b""
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.truncate(file, len(whole))
    return whole
