"""Reads an engine's output, line by line, into events and at last a report."""

import re
from collections.abc import Callable, Iterable
from typing import Literal, get_args

from msgspec import Struct

from convoy.model.session_result import NOTHING_LEFT, Left, bounded_notes
from convoy.text import clean, shortened
from runner.box.supervisor import Stream
from runner.engines import engine_events as events
from runner.engines.engine_events import Said
from runner.engines.row import Row

SUMMARY_CHARS = 500
LAST_CHARS = 300
LINE_CHARS = 4_000_000
"""A longer line is not an event, and is cut into pieces of text."""
TEXT_CHARS = 100_000
"""How much of the end of a message that comes in pieces is kept."""

Status = Literal["done", "noop", "blocked", "missing_tool", "missing_data"]

_NOTED = re.compile(
    r"^[^\w\n]{0,20}BRAT: *(note|share|decline)\b[:,*` \t-]*(\S.*)$", re.MULTILINE
)
_NOTED_MOST = 100
"""Lines; of each kind far fewer are kept."""
_LAST_WORD = re.compile(
    r"^[^\w\n]{0,20}BRAT: *(done|noop|blocked|missing_tool|missing_data)\b"
    r"(?:[:,*` \t-]|\.(?!\w))*(.*)$",
    re.MULTILINE,
)


class Report(Struct, frozen=True):
    status: Status | None
    """The agent's claim; None: it made none, or failed."""
    summary: str = ""
    trouble: events.Error | None = None
    """The last error, unless the engine recovered from it."""
    limit: events.RateLimit | None = None
    """How long the vendor wants no calls, if it says so."""
    session: str = ""
    text: str = ""
    left: Left = NOTHING_LEFT
    """The lines that the agent leaves for others, from all of its messages."""
    last: str = ""
    """The last line that it wrote, or the program around it; empty: none."""

    def retry_after_s(self, now_ms: int) -> float | None:
        """Return how long the vendor wants no calls, from `now_ms` on."""
        if self.limit is None or self.limit.until is None:
            return self.limit.wait_s if self.limit else None
        return max(0.0, self.limit.until - now_ms / 1000)


class OutputReader(Struct):
    _row: Row
    _note: Callable[[Said], None]
    _unfinished: dict[Stream, str] = {}
    _text: str = ""
    _is_speaking: bool = False
    _last: str = ""
    _words: list[tuple[str, str]] = []
    _noted: dict[tuple[str, str], None] = {}
    _session: str = ""
    _trouble: events.Error | None = None
    _limit: events.RateLimit | None = None
    _is_done: bool = False

    def feed(self, stream: Stream, text: str) -> None:
        """Take the next piece of output, redacted, cut anywhere."""
        *lines, rest = (self._unfinished.get(stream, "") + text).split("\n")
        self._unfinished[stream] = rest
        if len(rest) > LINE_CHARS:
            self._unfinished[stream] = ""
            lines.append(rest)
        for line in lines:
            self._take(self._row.read(stream, line.removesuffix("\r")))

    def close(self, left: str) -> None:
        for stream in get_args(Stream):
            line = self._unfinished.pop(stream, "")
            self._take(self._row.read(stream, line))
        self._take(self._row.recount(left))

    def report(self, exit_code: int | None) -> Report:
        """Return the report; `exit_code` is None when a signal or brat ended it.

        In that case the engine's claim of success does not count: one engine claims
        success whenever it is told to end.
        """
        got_over = self._is_done and exit_code is not None
        says = self._is_done if self._row.ends == "says" else True
        self._keep_words()
        word, summary = self._words[-1] if self._words else ("done", self._text)
        status = next(each for each in get_args(Status) if each == word)
        lines = clean(self._last).strip().splitlines()

        def noted(kind: str) -> tuple[str, ...]:
            return tuple(line for what, line in self._noted if what == kind)

        left = Left(
            notes=noted("note"), shared=noted("share"), declined=noted("decline")
        )
        return Report(
            status=status if says and exit_code == 0 else None,
            summary=summary.strip()[:SUMMARY_CHARS],
            trouble=None if got_over else self._trouble,
            limit=None if got_over else self._limit,
            session=self._session,
            text=self._text,
            left=bounded_notes(left),
            last=shortened(lines[-1].strip(), LAST_CHARS) if lines else "",
        )

    def _keep_words(self) -> None:
        self._words = _LAST_WORD.findall(self._text) or self._words
        for line in _NOTED.findall(self._text):
            if len(self._noted) < _NOTED_MOST:
                self._noted[line] = None

    def _take(self, said: Iterable[Said]) -> None:
        for each in said:
            self._note(each)
            self._fold(each)

    def _fold(self, said: Said) -> None:
        if isinstance(said, events.Text) and said.text.strip():
            before = self._last if said.goes_on else ""
            self._last = (before + said.text)[-TEXT_CHARS:]
        match said:
            case events.Text(by="agent"):
                if said.goes_on and self._is_speaking:
                    self._text = (self._text + said.text)[-TEXT_CHARS:]
                else:  # what is said after its last word is not it
                    self._keep_words()
                    self._text, self._is_speaking = said.text, True
            case events.ToolUse(refused=False):  # so the model answers again
                self._is_speaking, self._trouble, self._limit = False, None, None
            case events.Session():
                self._session = said.id
            case events.Error():
                self._trouble = said
                self._is_done = False
            case events.RateLimit():
                self._limit = said
            case events.Result(ok=True):
                self._is_done = True
                self._keep_words()
                self._text = said.text or self._text
            case events.Result():
                self._is_done = False
            case _:
                return
