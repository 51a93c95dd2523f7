"""The events of engines at work, in one vocabulary for all engines.

A line of output that is not understood, such as JSON of another form, is text. No event
is believed alone: the verdict also looks at the exit status and at git.

The kind of trouble of an error is known by its HTTP status, else by its words: those
that the engines of docs/engines.md were seen to print. Any other error is the engine's
own failure, and costs an attempt.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal

import msgspec

from convoy.model.session_result import Trouble
from runner.box.supervisor import Stream
from runner.proxy import proxy_protocol as protocol
from runner.proxy.proxy_protocol import Event

Usage = protocol.Usage
at, counted, pick = protocol.at, protocol.counted, protocol.pick


class Text(Event, frozen=True, kw_only=True, tag="text"):
    text: str
    by: Literal["agent", "program"] = "agent"
    """The model, or the program around it: banners, warnings, lines without JSON."""
    goes_on: bool = False
    """Whether this text continues the text before it, if there is one."""


class ToolUse(Event, frozen=True, kw_only=True, tag="tool"):
    """The model uses a tool; `refused` says that the use was not allowed."""

    name: str
    about: str = ""
    """The tool's command or file, cut."""
    refused: bool = False


class Cost(Event, frozen=True, kw_only=True, tag="cost"):
    """Money used since the last such event, as the engine reckons it."""

    usd: float


class Error(Event, frozen=True, kw_only=True, tag="error"):
    """Something went wrong; the engine may still get over it."""

    kind: Trouble
    message: str
    status: int | None = None


class RateLimit(Event, frozen=True, kw_only=True, tag="rate_limit"):
    """The vendor says for how long it refuses calls."""

    message: str = ""
    wait_s: float | None = None
    """Seconds from now; None: the vendor does not say."""
    until: int | None = None
    """Unix seconds; None: the vendor does not say."""


class Result(Event, frozen=True, kw_only=True, tag="result"):
    """The engine's own claim about its end."""

    ok: bool
    text: str = ""
    """The model's last message, if the engine repeats it."""


class Session(Event, frozen=True, kw_only=True, tag="session"):
    """The engine's name for this session."""

    id: str


class Unboxed(Event, frozen=True, kw_only=True, tag="unboxed"):
    """The agent had no users, processes and mounts of its own; the witness's own."""

    why: str


class Metered(Event, frozen=True, kw_only=True, tag="metered"):
    """The proxy's total for the session; the witness's own event."""

    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int


Said = Event

SHOWN_CHARS = 200

Line = dict[str, object]
EMPTY: Final[Line] = {}
EMPTY_LIST: Final[list[object]] = []


def parsed(text: str) -> Line | None:
    """Return the JSON object that a text is, or None if it is none. Never raises."""
    try:
        return msgspec.json.decode(text, type=Line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def decoded(text: str, kind: str = "type") -> Line | None:
    """Return the JSON object of a line that has a word of that name, else None."""
    line = parsed(text)
    return line if isinstance(at(line, kind), str) else None


def program(line: str) -> tuple[Said, ...]:
    """Return a line that is not the model's as text; nothing for an empty line."""
    return (Text(text=line, by="program"),) if line.strip() else ()


def agent(text: str | None) -> tuple[Said, ...]:
    """Return the model's words as text; nothing if they are empty."""
    return (Text(text=text),) if text and text.strip() else ()


def tool(name: str, given: object = None, *, refused: bool = False) -> ToolUse:
    """Return the use of a tool, with the first text among its arguments."""
    values = list(given.values()) if isinstance(given, dict) else [given]
    words = (each for each in values if isinstance(each, str) and each.strip())
    about = " ".join(next(words, "").split())
    return ToolUse(name=name, about=about[:SHOWN_CHARS], refused=refused)


def of_lines(
    understood: Callable[[Line], Iterable[Said]],
    prose: Callable[[str], Iterable[Said]] = program,
) -> Callable[[Stream, str], Iterable[Said]]:
    """Return the reader of an engine that writes one JSON object a line.

    Each has a `type`; whatever else is written is `prose`.
    """

    def read(stream: Stream, text: str) -> Iterable[Said]:
        line = decoded(text) if stream == "out" else None
        return prose(text) if line is None else understood(line)

    return read


MESSAGE_CHARS = 500
_SERVER_ERRORS = 500

_WORDS: Mapping[Trouble, str] = {
    "budget": (
        r"credit balance|insufficient[_ ]quota|plan and billing|payment required"
        r"|max_budget|max_turns|maximum budget|turn limit"
    ),
    "rate_limited": (
        r"rate.?limit|too many requests|usage limit|session limit|daily quota"
        r"|quota exceeded|exhausted|\b429\b"
    ),
    "credentials": (
        r"authenticat|unauthori[sz]ed|api[ _]key|not logged in|permission denied"
        r"|missing environment variable|\b40[13]\b"
    ),
    "vendor_down": (
        r"overloaded|high demand|connect|network|unavailable|timed? ?out|bad gateway"
        r"|internal ?server|server_error|stream (?:ended|disconnected|closed)"
        r"|fetch failed|\b5\d\d\b|ECONN|incomplete json|malformed response|interrupted"
        r"|failed to get response|\bterminated\b|server had an error|internal error"
    ),
}
"""The first whose words a message has is its kind."""
_KINDS: Mapping[int, Trouble] = {
    401: "credentials",
    402: "budget",
    403: "credentials",
    408: "vendor_down",
    429: "rate_limited",
}
_STATUS = r'(?:\bstatus:? |\bcode"?: ?|^\(?)([45]\d\d)\b'
_WAIT = r"try again in ([0-9]{1,6}(?:\.[0-9]+)?) ?(m?s|m|h)\b"
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def _says(words: str, message: str) -> bool:
    # Compiled when first asked for: it takes 2 ms, and most sessions have no trouble.
    return re.search(words, message, re.IGNORECASE) is not None


def kind_of(status: int | None, message: str) -> Trouble:
    if status is None:
        said = (kind for kind, words in _WORDS.items() if _says(words, message))
        return next(said, "failed")
    kind = _KINDS.get(status, "vendor_down" if status >= _SERVER_ERRORS else "failed")
    is_spent = kind != "credentials" and _says(_WORDS["budget"], message)
    return "budget" if is_spent else kind


def error(message: str, status: int | None = None) -> Error:
    """Return an error judged by its status, the status in its message, or its words."""
    found = re.search(_STATUS, message) if status is None else None
    status = int(found[1]) if found else status
    shown = " ".join(message.split())[:MESSAGE_CHARS]
    return Error(kind=kind_of(status, message), message=shown, status=status)


def errors(message: str, status: int | None = None) -> Iterator[Said]:
    """Yield the error, and the time to wait if its message names one."""
    found = error(message, status)
    yield found
    wait = re.search(_WAIT, message)
    if found.kind == "rate_limited" and wait:
        yield RateLimit(wait_s=float(wait[1]) * _UNIT_S[wait[2]])
