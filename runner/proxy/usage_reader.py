"""Reads the token counts from a passing answer, and says when a cap is met.

All vendors put the figures into the JSON of their answers; in a stream they are in the
JSON of some events, and later figures include earlier ones. No input or output.
"""

import re
from base64 import b64decode
from typing import Final

from msgspec import MsgspecError, Struct, field, json

from convoy.model.records import Usage
from convoy.model.session_result import plus, priced, tokens
from runner.proxy import proxy_protocol as protocol
from runner.proxy.proxy_protocol import Caps

LINE_BYTES: Final = 16_000_000
"""The longest piece that is read; a longer piece is passed on unread."""
BYTES_A_TOKEN: Final = 4
_MARK: Final = b'"usage'
_DATA: Final = b"data:"
_IN_FRAME: Final = re.compile(rb'"bytes": ?"([\w+/=]*)"', re.ASCII)
"""An event in Amazon's frames, in which nothing else that a model wrote is plain.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_PayloadPart.html
"""


class _Details(Struct, frozen=True):
    cached_tokens: int | None = None


class _Counted(Struct, frozen=True):
    """Tokens, in the words of Anthropic and of both of OpenAI's dialects."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens_details: _Details | None = None
    prompt_tokens_details: _Details | None = None


class _Gemini(Struct, frozen=True, rename="camel"):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None


class _Inner(Struct, frozen=True):
    usage: _Counted | None = None
    model: str | None = None
    usage_metadata: _Gemini | None = field(default=None, name="usageMetadata")
    model_version: str | None = field(default=None, name="modelVersion")


class _Answer(_Inner, frozen=True):
    message: _Inner | None = None
    """In Anthropic's first event."""
    response: _Inner | None = None
    """In the last event of OpenAI's responses, and in all of Code Assist's."""


class UsageReader:
    def __init__(self, kind: str) -> None:
        """Watch a stream of events of that media type, or else one piece of JSON."""
        self._streams = kind == "text/event-stream"
        self._frames = kind == "application/vnd.amazon.eventstream"
        self._held = bytearray()
        self._is_lost = False
        self._bytes = 0
        self._found: protocol.Usage | None = None
        self._is_final = False

    def feed(self, chunk: bytes) -> None:
        """Take the next piece, cut anywhere."""
        self._bytes += len(chunk)
        self._held += chunk
        if self._streams and b"\n" in chunk:
            *lines, rest = self._held.split(b"\n")
            self._held = rest
            for line in lines:
                self._look(line)
        if self._frames:
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
        text = line.removeprefix(_DATA) if self._streams else line
        try:
            # A list is a stream of Gemini's that is no SSE.
            if text.lstrip().startswith(b"["):
                found = json.decode(text, type=list[_Answer])
            else:
                found = [json.decode(text, type=_Answer)]
        except MsgspecError:
            return
        for answer in found:
            if said := _read(answer):
                self._found = said.with_each(self._found or said, max)
                self._is_final = self._is_final or answer.message is None


def _read(answer: _Answer) -> protocol.Usage | None:
    for inner in filter(None, (answer, answer.message, answer.response)):
        if (gemini := inner.usage_metadata) is not None:
            cached = gemini.cached_content_token_count or 0
            read = gemini.prompt_token_count or 0
            read += gemini.tool_use_prompt_token_count or 0
            written = gemini.candidates_token_count or 0
            written += gemini.thoughts_token_count or 0
            return _bounded(inner.model_version or "", read - cached, cached, written)
        if (said := inner.usage) is not None:
            details = said.input_tokens_details or said.prompt_tokens_details
            # OpenAI counts them in, Anthropic does not.
            among = (details.cached_tokens or 0) if details else 0
            read = (said.input_tokens or said.prompt_tokens or 0) - among
            read += said.cache_creation_input_tokens or 0
            cached = among + (said.cache_read_input_tokens or 0)
            written = said.output_tokens or said.completion_tokens or 0
            return _bounded(inner.model or answer.model or "", read, cached, written)
    return None


def _bounded(model: str, read: int, cached: int, written: int) -> protocol.Usage:
    return protocol.Usage(
        model=model[:100],
        input_tokens=max(0, read),
        cached_tokens=max(0, cached),
        output_tokens=max(0, written),
    )


class _Generation(Struct, frozen=True):
    most: int | None = field(default=None, name="maxOutputTokens")


class _Asked(Struct, frozen=True):
    """The most that an answer may have, in the words of each dialect."""

    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    max_output_tokens: int | None = None
    generation: _Generation | None = field(default=None, name="generationConfig")
    request: "_Asked | None" = None
    """The request in the envelope of Code Assist."""


_ANSWER_TOKENS: Final = 128_000
"""What an answer may have whose request does not say: as many as any model writes."""


def most_of(body: bytes) -> Usage:
    """Return the most that a call may use, as far as its request tells."""
    try:
        asked = json.decode(body, type=_Asked)
        asked = asked.request or asked
    except MsgspecError:
        asked = _Asked()
    named = (
        *(asked.max_tokens, asked.max_completion_tokens, asked.max_output_tokens),
        asked.generation.most if asked.generation else None,
    )
    most = max((each for each in named if each), default=_ANSWER_TOKENS)
    return Usage(input_tokens=len(body) // BYTES_A_TOKEN, output_tokens=most)


class UsageMeter:
    """One session's counts, against its caps."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._calls = 0
        self._used = Usage()
        self._held: list[Usage] = []
        """What the calls under way may use."""

    def takes(self, most: Usage) -> bool:
        """Whether a call fits beside those under way; a call alone always does."""
        whole = self._used
        for each in (*self._held, most):
            whole = plus(whole, self._priced(each))
        return not (self._held and self._over(whole))

    def begin(self, most: Usage) -> None:
        """Count a call that is let through, and hold what it may use."""
        self._calls += 1
        self._held.append(most)

    def end(self, most: Usage) -> None:
        self._held.remove(most)

    def add(self, said: protocol.Usage) -> None:
        self._used = plus(self._used, self._priced(said.tokens))

    def spent(self) -> str:
        """Return the cap that is met, such as `200 model calls`, or ""."""
        if self._caps.calls is not None and self._calls >= self._caps.calls:
            return f"{self._caps.calls} model calls"
        return self._over(self._used)

    def _priced(self, used: Usage) -> Usage:
        return priced(used, None, self._caps.price)

    def _over(self, used: Usage) -> str:
        caps = self._caps
        if caps.tokens is not None and tokens(used) >= caps.tokens:
            return f"{caps.tokens} tokens"
        if caps.usd is not None and caps.price and used.usd >= caps.usd:
            return f"${caps.usd:.2f}"
        return ""
