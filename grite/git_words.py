"""What of a call of git people are told: its verb, and the line that says why. Pure."""

import re
from collections.abc import Sequence
from typing import Final

LINE_CHARS: Final = 300

_LEVEL: Final = re.compile(r"(?:fatal|error):\s*", re.IGNORECASE)
_ADVICE: Final = re.compile(
    r"hint:.*|(?:error: )?failed to push some refs.*|Aborting\.?"
    r"|(?:fatal: )?Could not read from remote repository\."
    r"|Please make sure you have the correct access rights|and the repository exists\."
)
"""Lines that follow the reason and say nothing of their own."""
_RESULT: Final = re.compile(
    r"fatal: (?:the remote end hung up unexpectedly|early EOF|.* index-pack output)"
)
"""What an earlier line is often the cause of."""


def verb(args: Sequence[str]) -> str:
    """Return the first word that is neither an option nor the value of `-c` or `-C`.

    Args:
        args: without the word git.
    """
    words = iter(args)
    for word in words:
        if word in {"-c", "-C"}:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def reason(stderr: str) -> str:
    """Return the line that says best why git failed, as one phrase; may be empty."""
    lines = [" ".join(line.split()) for line in re.split(r"[\r\n]+", stderr)]
    lines = [line for line in lines if line]
    plain = [line for line in lines if not _ADVICE.fullmatch(line)]
    levelled = [line for line in plain if _LEVEL.match(line)]
    causes = [line for line in levelled if not _RESULT.fullmatch(line)]
    best = next((some[-1] for some in (causes, levelled, plain, lines) if some), "")
    return _LEVEL.sub("", best, count=1)[:LINE_CHARS].rstrip(". ")


def sentence(args: Sequence[str], status: int, stderr: str) -> str:
    """Return a failed call as one sentence without a full stop.

    Args:
        args: without the word git.
        status: how git ended; negative for a signal.
        stderr: what it wrote, without secrets.
    """
    what = f"git {verb(args)}".strip()
    if why := reason(stderr):
        return f"{what} failed: {why}"
    how = f"by signal {-status}" if status < 0 else f"with status {status}"
    return f"{what} ended {how} and said nothing"
