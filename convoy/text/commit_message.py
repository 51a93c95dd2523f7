"""Commit messages that a forge takes for text, whoever wrote them.

An agent's message must not keep CI from the commit, nor close somebody's issue when it
lands, nor speak in somebody else's name.
"""

import re
from collections.abc import Iterable
from typing import Final

from convoy.text.plaintext import clean

# GitHub, GitLab, Azure, Travis, CircleCI, AppVeyor, Netlify, ... and their spellings:
# https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs
# https://learn.microsoft.com/azure/devops/pipelines/repos/azure-repos-git (NO_CI)
_SKIPS: Final = re.compile(
    r"\[((?:skip|no)[ _-][\w .-]{2,30}|[\w .-]{2,30}[ _-]skip)\]", re.IGNORECASE
)
_NO_CI: Final = re.compile(r"\*{3}(NO_CI)\*{3}", re.IGNORECASE)
_SKIP_TRAILER: Final = re.compile(
    r"^([ \t]*skip-checks)[ \t]*:(?=[ \t]*true)", re.IGNORECASE | re.MULTILINE
)
# https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
_CLOSES: Final = re.compile(
    r"(?<![a-z0-9])(close[sd]?|fix(?:e[sd])?|resolve[sd]?)([*_]*):?([*_]*)\s+"
    r"(?=[\[<(*_]{0,4}(?:(?:[\w.-]+/[\w.-]+)?#\d|GH-\d|https?://\S+/(?:issues|pull)/\d))",
    re.IGNORECASE,
)
_MENTION: Final = re.compile(r"(?<![\w.+/-])@(?=[a-z0-9])", re.IGNORECASE)

AUTHOR: Final = ("brat", "brat@users.noreply.github.com")
"""The name and the address with which sessions commit."""
SIGNED_OFF: Final = "Signed-off-by: {} <{}>".format(*AUTHOR)
"""https://developercertificate.org"""
_OF_OTHERS: Final = re.compile(
    rf"^(?!{re.escape(SIGNED_OFF)}[ \t]*$)([ \t]*[a-z][a-z-]*-by)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
# `feat(x): `, `net/http: `, `[docs] `, `ABC-12 `: how projects begin their subjects.
_FORMED: Final = re.compile(r"(?:[\w./()!-]{1,40}: |\[[^\]]{1,40}\] |[A-Z]+-\d+ )\S")
SUBJECT_CHARS: Final = 100
"""The longest subject that is taken over; commitlint's limit."""
_TRAILER: Final = re.compile(r"[\w-]+: ")


def inert(message: str) -> str:
    """Return the message without what makes GitHub act on it; safe to call twice.

    What cannot be seen is gone. `[skip ci]` and its like stand in round brackets,
    `Fixes #12` is `Fixes issue #12`, which closes nothing, and `@name` is `@ name`.
    `Signed-off-by: ` and its like are no trailers without their colon; only the
    session's own sign-off is left.
    """
    text = _NO_CI.sub(r"\1", _SKIPS.sub(r"(\1)", clean(message)))
    text = _SKIP_TRAILER.sub(r"\1", text)
    text = _OF_OTHERS.sub(r"\1", text)
    text = _MENTION.sub("@ ", text)
    return _CLOSES.sub(r"\1\2\3 issue ", text)


def squashed(message: str, said: Iterable[str]) -> str:
    """Return the message of a squash, with what commitlint and DCO look for.

    The first subject of the form in which projects begin theirs stands for the
    message's, and the session's own sign-off is kept.

    Args:
        message: what is said of the whole.
        said: the messages of the commits, oldest first.
    """
    given = [inert(each) for each in said]
    subjects = (each.partition("\n")[0].strip() for each in given)
    fit = (each for each in subjects if _FORMED.match(each))
    subject = next((each for each in fit if len(each) <= SUBJECT_CHARS), None)
    if subject is not None:
        message = f"{subject}\n{message.partition(chr(10))[2]}"
    if any(SIGNED_OFF in each.split("\n") for each in given):
        key, _, value = SIGNED_OFF.partition(": ")
        message = trailed(message, key, value)
    return message


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
