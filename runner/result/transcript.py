"""transcript.jsonl: what the engine wrote and meant, redacted; its beginning and end.

The beginning is written as it comes, so that it stays if the job is killed. The end is
kept in memory until it is known to be the end.
"""

import json
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec

from convoy.text import Redaction
from runner.box.supervisor import Stream
from runner.engines.engine_events import Said
from runner.result.stream_redaction import RedactedStream

Reader = Callable[[Stream, str], None]


class Transcript:
    """Takes the output of one engine; close it when the engine has ended."""

    def __init__(
        self, path: Path, redaction: Redaction, limit_bytes: int, reader: Reader
    ) -> None:
        """Open the file.

        Args:
            path: a file; what it holds already stays.
            redaction: what nobody may read.
            limit_bytes: how much text is kept, half of it from the end.
            reader: gets all that is shown, however much it is.
        """
        self._file = path.open("a", encoding="utf-8")
        self._started = time.monotonic()
        self._streams: dict[Stream, RedactedStream] = {
            "out": RedactedStream(redaction),
            "err": RedactedStream(redaction),
        }
        self._reader = reader
        self._head_left = limit_bytes // 2
        self._tail_left = limit_bytes - self._head_left
        self._tail: deque[tuple[str, int]] = deque()
        self.dropped = 0
        """Bytes that were left out between the beginning and the end."""

    def write(self, stream: Stream, chunk: bytes) -> None:
        """Take a piece of output."""
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
            self._file.write(self._line("err", note))
        self._file.writelines(line for line, _ in self._tail)
        self._file.close()

    def _show(self, stream: Stream, text: str) -> None:
        if not text:
            return
        self._reader(stream, text)
        self._keep(self._line(stream, text), len(text.encode()))

    def note(self, said: Said) -> None:
        """Add an event that was read from the output."""
        event = msgspec.to_builtins(said)
        line = json.dumps({"t": self._seconds(), "event": event}, ensure_ascii=False)
        self._keep(line + "\n", len(line.encode()))

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

    def _line(self, stream: Stream, text: str) -> str:
        line = {"t": self._seconds(), "stream": stream, "text": text}
        return json.dumps(line, ensure_ascii=False) + "\n"

    def _seconds(self) -> float:
        return round(time.monotonic() - self._started, 3)
