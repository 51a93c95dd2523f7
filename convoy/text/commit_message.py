"""Commit messages that a forge takes for text, whoever wrote them.

An agent's message must not keep CI from the commit, nor close somebody's issue when it
lands.
"""

import re
from typing import Final

# https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs
_SKIPS: Final = re.compile(
    r"\[(skip ci|ci skip|no ci|skip actions|actions skip)\]", re.IGNORECASE
)
_SKIP_TRAILER: Final = re.compile(
    r"^([ \t]*skip-checks)[ \t]*:(?=[ \t]*true)", re.IGNORECASE | re.MULTILINE
)
# https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
_CLOSES: Final = re.compile(
    r"\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+"
    r"(?=(?:[\w.-]+/[\w.-]+)?#\d|GH-\d|https?://\S+/(?:issues|pull)/\d)",
    re.IGNORECASE,
)

_TRAILER: Final = re.compile(r"[\w-]+: ")


def inert(message: str) -> str:
    """Return the message without what makes GitHub act on it; safe to call twice.

    `[skip ci]` and its like stand in round brackets then, and `Fixes #12` is
    `Fixes issue #12`, which closes nothing.
    """
    text = _SKIPS.sub(r"(\1)", message)
    text = _SKIP_TRAILER.sub(r"\1", text)
    return _CLOSES.sub(r"\1 issue ", text)


def trailed(message: str, key: str, value: str) -> str:
    """Return the message with a trailer at its end.

    https://git-scm.com/docs/git-interpret-trailers
    """
    text = message.rstrip("\n")
    last = text.rpartition("\n\n")[2]
    is_open = "\n\n" in text and all(_TRAILER.match(row) for row in last.split("\n"))
    return f"{text}{chr(10) if is_open else chr(10) * 2}{key}: {value}\n"


def trailer(message: str, key: str) -> str:
    """Return the value of a trailer; empty: there is none."""
    last = message.rstrip("\n").rpartition("\n\n")[2].split("\n")
    found = (row.removeprefix(f"{key}: ") for row in last if row.startswith(f"{key}: "))
    return next(found, "")
