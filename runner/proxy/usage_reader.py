"""Reads the token counts from a passing answer, and says when a cap is met.

All vendors put the figures into the JSON of their answers; in a stream they are in the
JSON of some events, and later figures include earlier ones. No input or output.
"""

import re
from base64 import b64decode
from typing import Final

from msgspec import MsgspecError, Struct, field, json

from convoy.model.records import Limits, Price, Usage
from convoy.model.session_result import priced
from runner.proxy import proxy_protocol as protocol
from runner.proxy.proxy_protocol import at, pick

Answer = dict[str, object]
LINE_BYTES: Final = 16_000_000
"""The longest piece that is read; a longer piece is passed on unread."""
BYTES_A_TOKEN: Final = 4
_EVENTS, _FRAMES = "text/event-stream", "application/vnd.amazon.eventstream"
_MARK: Final = b'"usage'
_DATA: Final = b"data:"
_IN_FRAME: Final = re.compile(rb'"bytes": ?"([\w+/=]*)"', re.ASCII)
"""An event in Amazon's frames, in which nothing else that a model wrote is plain.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_PayloadPart.html
"""


_AMONG: Final = "input_tokens_details.cached_tokens|prompt_tokens_details.cached_tokens"
"""OpenAI counts what was cached in, Anthropic does not."""
_COUNTS: Final = (
    (
        *("usageMetadata", "modelVersion"),
        {
            "read": "promptTokenCount toolUsePromptTokenCount -cachedContentTokenCount",
            "cached": "cachedContentTokenCount",
            "written": "candidatesTokenCount thoughtsTokenCount",
        },
    ),
    (
        *("usage", "model"),
        {
            "read": f"input_tokens|prompt_tokens cache_creation_input_tokens -{_AMONG}",
            "cached": f"cache_read_input_tokens {_AMONG}",
            "written": "output_tokens|completion_tokens",
        },
    ),
)
"""Where Google, and where Anthropic and OpenAI, say the counts and the model."""


class UsageReader(Struct):
    _kind: str
    """The answer's media type: a stream of events, or else one piece of JSON."""
    _held: bytearray = field(default_factory=bytearray)
    is_whole: bool = False
    """Whether nothing more comes; whoever feeds it says so."""
    _is_lost: bool = False
    _bytes: int = 0
    _found: protocol.Usage | None = None
    _is_final: bool = False

    def feed(self, chunk: bytes) -> None:
        """Take the next piece, cut anywhere."""
        self._bytes += len(chunk)
        self._held += chunk
        if self._kind == _EVENTS and b"\n" in chunk:
            *lines, rest = self._held.split(b"\n")
            self._held = rest
            for line in lines:
                self._look(line)
        if self._kind == _FRAMES:
            end = 0
            for event in _IN_FRAME.finditer(self._held):
                self._look(bytearray(b64decode(event[1])))
                end = event.end()
            del self._held[:end]
        if len(self._held) > LINE_BYTES:
            self._held.clear()
            self._is_lost = True

    def read(self, asked_bytes: int, *, is_cut: bool = False) -> protocol.Usage:
        """Return the answer's tokens, once it has ended or was broken off (`is_cut`).

        What a vendor said before the end counts for what was read, not for what was
        written after it.
        """
        self._look(self._held)
        self._held.clear()
        if self._found is not None and self._is_final and not is_cut:
            return self._found
        guessed = protocol.Usage(
            input_tokens=0 if self._found else asked_bytes // BYTES_A_TOKEN,
            output_tokens=self._bytes // BYTES_A_TOKEN,
        )
        return self._found.with_each(guessed, max) if self._found else guessed

    def _look(self, line: bytearray) -> None:
        if _MARK not in line or self._is_lost:
            self._is_lost = False
            return
        text = line.removeprefix(_DATA) if self._kind == _EVENTS else line
        try:
            # A list is a stream of Gemini's that is no SSE.
            found = json.decode(text, type=list[Answer] | Answer)
        except (MsgspecError, RecursionError):
            return
        for answer in found if isinstance(found, list) else [found]:
            if said := _read(answer):
                self._found = said.with_each(self._found or said, max)
                self._is_final = self._is_final or at(answer, "message") is None


def _read(answer: Answer) -> protocol.Usage | None:
    # The second is in Anthropic's first event, the third in the last event of OpenAI's
    # responses, and in all of Code Assist's.
    for inner in (answer, at(answer, "message"), at(answer, "response")):
        for where, name, paths in _COUNTS:
            if isinstance(said := at(inner, where), dict):
                model = pick(inner, name, "") or pick(answer, name, "")
                return protocol.counted(said, model, **paths)
    return None


_ANSWER_TOKENS: Final = 128_000
"""What an answer may have whose request does not say: as many as any model writes."""


_MOST: Final = (
    *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    "generationConfig.maxOutputTokens",
)
"""Where a dialect's request says the most that its answer may have."""


def most_of(body: bytes) -> Usage:
    """Return the most that a call may use, as far as its request tells."""
    try:
        whole = json.decode(body)
    except (MsgspecError, RecursionError):
        whole = None
    asked = at(whole, "request") or whole  # the envelope of Code Assist
    named = (pick(asked, each, 0) for each in _MOST)
    most = max((each for each in named if each > 0), default=_ANSWER_TOKENS)
    return Usage(input_tokens=len(body) // BYTES_A_TOKEN, output_tokens=most)


class UsageMeter(Struct):
    """One session's counts, against its limits."""

    _limits: Limits
    _price: Price | None
    _calls: int = 0
    _used: Usage = Usage()
    _held: list[Usage] = []
    """What the calls under way may use."""

    def begin(self, most: Usage) -> bool:
        """Let a call in if it fits beside those under way; a call alone always does."""
        whole = sum(map(self._priced, (*self._held, most)), self._used)
        if self._held and self._over(whole):
            return False
        self._calls += 1
        self._held.append(most)
        return True

    def end(self, most: Usage) -> None:
        self._held.remove(most)

    def add(self, said: protocol.Usage) -> None:
        self._used += self._priced(said.tokens)

    def spent(self) -> str:
        """Return the cap that is met, such as `200 model calls`, or ""."""
        if self._calls >= self._limits.model_calls:
            return f"{self._limits.model_calls} model calls"
        return self._over(self._used)

    def _priced(self, used: Usage) -> Usage:
        return priced(used, None, self._price)

    def _over(self, used: Usage) -> str:
        limits = self._limits
        if used.tokens >= limits.tokens:
            return f"{limits.tokens} tokens"
        if limits.usd is not None and self._price and used.usd >= limits.usd:
            return f"${limits.usd:.2f}"
        return ""
