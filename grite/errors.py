"""Everything this project raises on purpose, and how it is said.

Of a failed call of git people are told its verb and the line that says why. A record
that holds a secret is shown without it, in a log, a traceback or a failed test.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from grite.push_answer import PushAnswer

STDERR_CHARS = 2000


class BratError(Exception):
    """The root of all errors this project raises on purpose."""


class Conflict(BratError):
    """Someone else wrote first; nothing of ours was written. Read again."""


class Unavailable(BratError):
    """No answer (network, deadline) or no room (disk, folder); later may help.

    A write that ends like this may have arrived: read before doing it again.
    """


class Corrupt(BratError):
    """The log holds what this version cannot read; a person must look."""


class Rewritten(Corrupt):
    """The log does not descend from what was read before: it is not believed."""

    def __init__(self, known: str, found: str | None, mend: str = "") -> None:
        """Tell the newest commit read before, where the log is now, and what to do."""
        said = (
            f"the log's head {found} does not descend from {known}, which was read "
            "before"
            if found
            else f"the log is gone; its last known head is {known}"
        )
        super().__init__(f"refs/grite/wal: {said}{f': {mend}' if mend else ''}")


class Unsigned(Corrupt):
    """No commit of the log is signed by an allowed key, so none of it counts."""

    def __init__(self, head: str, why: str) -> None:
        """Tell the log's newest commit, and why that one does not count."""
        super().__init__(
            f"refs/grite/wal: no commit of the log is trusted; {head[:10]}: {why}. If "
            "the log predates signatures, or its key was replaced, inspect it, then "
            f"adopt it with: brat log adopt {head}"
        )


class Missing(Corrupt):
    """A commit of the log is not in this repository: a shallow clone, or a broken one.

    What the log says is not known here, which is not the same as nothing.
    """


class GitFailed(BratError):
    """git ended with an error; its text is one sentence."""

    argv: tuple[str, ...]
    """The whole call, without secrets: for the log, and not for people."""
    status: int
    """The exit status; negative for the signal that ended it."""
    stderr: str
    """Its last 2000 characters, without secrets."""

    def __init__(self, argv: Sequence[str], status: int, stderr: str) -> None:
        self.argv = tuple(argv)
        self.status = status
        self.stderr = stderr[-STDERR_CHARS:]
        what = f"git {git_verb(self.argv[1:])}".strip()
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        why = git_reason(self.stderr)
        said = f"failed: {why}" if why else f"ended {how} and printed nothing"
        super().__init__(f"{what} {said}")


NO_SPACE: Final = "No space left on device"
_FULL: Final = NO_SPACE, "Disk quota exceeded", "Out of diskspace"
"""As the system says it, and git of a pack."""


def is_disk_full(said: Exception | str) -> bool:
    """Whether there was no room for what we wrote, or git."""
    text = said.stderr if isinstance(said, GitFailed) else str(said)
    return any(each in text for each in _FULL)


class Rejected(GitFailed):
    """The remote will not take a push, and pushing the same again will not help."""

    answer: PushAnswer
    """Which refs it refused, and what it said."""

    def __init__(
        self, argv: Sequence[str], status: int, stderr: str, answer: PushAnswer
    ) -> None:
        super().__init__(argv, status, stderr)
        self.answer = answer

    def __str__(self) -> str:
        if not self.answer.refused:
            return f"the remote refused the push: {self.answer.said}"
        told = (f"{one.ref}: {one.said}" for one in self.answer.refused)
        return f"the remote refused {'; '.join(told)}"


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


def git_verb(args: Sequence[str]) -> str:
    """Return the first word that is neither an option nor the value of `-c` or `-C`."""
    words = iter(args)
    for word in words:
        if word in {"-c", "-C"}:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def git_reason(stderr: str) -> str:
    """Return the line that says best why git failed, as one phrase; may be empty."""
    lines = [" ".join(line.split()) for line in re.split(r"[\r\n]+", stderr)]
    lines = [line for line in lines if line]
    plain = [line for line in lines if not _ADVICE.fullmatch(line)]
    levelled = [line for line in plain if _LEVEL.match(line)]
    causes = [line for line in levelled if not _RESULT.fullmatch(line)]
    best = next((some[-1] for some in (causes, levelled, plain, lines) if some), "")
    return _LEVEL.sub("", best, count=1)[:LINE_CHARS].rstrip(". ")


def repr_without(record: Struct, *secrets: str) -> str:
    """Return the `repr` of a record, but for the fields that these names name."""
    names = [name for name in record.__struct_fields__ if name not in secrets]
    shown = ", ".join(f"{name}={getattr(record, name)!r}" for name in names)
    return f"{type(record).__name__}({shown})"
