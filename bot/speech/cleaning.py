"""Makes text from outside fit to be kept and shown to a model. Pure.

`convoy.plaintext.clean` takes away what no screen shows: enough for one line of a
table, and for the planner. `clean` here does that too, and takes away what a *page*
does not show, so that a model reads no more than people do. A text of 65,000 characters
that was built to be slow takes some seconds: the shell calls it in a thread.
"""

import re
from typing import Final
from unicodedata import normalize

from bot.speech.markup import visible
from convoy import plaintext
from convoy.codec import broken_up

CUT_NOTE: Final = "\n\n(The text goes on; it was too long and is cut here.)"

_DATA_URL: Final = re.compile(
    r"\bdata:(?=[\w.+-]+/|;)[^\s,]{1,100},[^\s)\"'<>]*", re.IGNORECASE
)
HIDDEN: Final = "***"
_BASE64: Final = r"[A-Za-z0-9+/=]"
# GitHub, OpenAI and Anthropic, AWS, Slack, GitLab, JSON web tokens, private keys.
# https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
_SECRET: Final = re.compile(
    rf"""
      \bgh[pousr]_[A-Za-z0-9]{{16,}} | \bgithub_pat_\w{{20,}}
    | \bsk-[\w-]{{20,}}
    | \b(?:AKIA|ASIA)[0-9A-Z]{{16}}\b
    | \bxox[abeprs]-[\w-]{{10,}}
    | \bglpat-[\w-]{{20,}}
    | \beyJ[\w-]{{10,4000}}\.[\w-]{{10,4000}}\.[\w-]{{5,}}
    | -----BEGIN[ ][A-Z0-9 ]{{0,30}}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
      (?:(?:(?!-----BEGIN[ ])[\s\S])*?
         -----END[ ][A-Z0-9 ]{{0,30}}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
        |(?:\s+{_BASE64}{{16,}})*)
    """,
    re.VERBOSE | re.ASCII,
)
# What is told by its name: a value in quotes, or one of letters and digits mixed. Code
# that only fetches a secret has dots, brackets or a dollar sign there.
_NAMED: Final = re.compile(
    r"""(?P<name>(?:pass(?:word|wd|phrase)|secret|token|api[_-]?key|access[_-]?key)
        [\w-]{0,20}["']?[ \t]*(?::=|=>|[:=])[ \t]*)
    (?:(?P<quote>["'])[^"'\s$<{]{8,}(?P=quote)
      | (?=[A-Za-z_]*[0-9])(?=[0-9_]*[A-Za-z])[A-Za-z0-9+/=_-]{12,}(?![\w.(\[]))""",
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_IN_ADDRESS: Final = re.compile(r"(?<=://)[^\s/:@]{0,100}:[^\s/@]{1,200}(?=@)")
_FENCE: Final = re.compile(r"[A-Za-z0-9-]{8,80}")


def clean(text: str, *, limit: int) -> str:
    """Return what people see of a Markdown text; safe to do twice.

    Code stays as it is written. Gone are: unseen characters, comments, tags and their
    attributes, alternative texts, titles, labels, and the data in `data:` addresses.

    Args:
        text: as it comes from the forge.
        limit: the most characters to return. A longer text ends at the end of a line,
            and a note says so where there is room for one.
    """
    shown = _settled(text)
    if len(shown) <= limit and len(text) <= plaintext.TEXT_CHARS:
        return shown
    note = CUT_NOTE if len(CUT_NOTE) <= limit else ""
    room = limit - len(note)
    while room > 0:
        whole = _settled(_whole_lines(shown, room) + note)
        if len(whole) <= limit:
            return whole
        room -= len(whole) - limit  # a cut can open what was closed: a note says so
    return note


def fenced(text: str, fence: str) -> str:
    """Wrap a text for a model between two lines that do not occur in it.

    Args:
        text: data, from whoever.
        fence: a name that was drawn at random for this one prompt.

    Raises:
        ValueError: the fence is not 8 to 80 letters, digits and dashes.
    """
    if not _FENCE.fullmatch(fence):
        raise ValueError(
            f"a fence is 8 to 80 letters, digits and dashes, not {fence!r}"
        )
    data = re.sub(re.escape(fence), "\u2026", text, flags=re.IGNORECASE)
    return f"<{fence}>\n{data}\n</{fence}>"


def redacted(text: str) -> str:
    """Return a text with `***` for what looks like a secret; safe to do twice.

    Known shapes of tokens, private keys, passwords in addresses, and values whose names
    say so. What is known to be secret is found by its value, elsewhere.
    """
    text = _IN_ADDRESS.sub(HIDDEN, _SECRET.sub(HIDDEN, text))
    return _NAMED.sub(_without_value, text)


def _without_value(found: re.Match[str]) -> str:
    quote = found["quote"] or ""
    return f"{found['name']}{quote}{HIDDEN}{quote}"


def _settled(text: str) -> str:
    """Clean until there is nothing left to do."""
    while (cleaner := _once(text)) != text:
        text = cleaner
    return text


def _once(text: str) -> str:
    seen = normalize("NFC", plaintext.clean(text))
    return broken_up(_DATA_URL.sub("data:\u2026", visible(seen)))


def _whole_lines(text: str, room: int) -> str:
    """Return the lines that fit, or the beginning of the first."""
    lines = text[: room + 1].rpartition("\n")[0]
    return lines.rstrip() or text[:room]
