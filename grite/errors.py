"""Everything this project raises on purpose.

BratError
├── Conflict      someone else wrote first; read again and decide again
├── Unavailable   no answer in time, or no room to write; trying later may help
├── Corrupt       the log holds what this version cannot read; a person must look
│   ├── Rewritten the log does not descend from what was read before
│   ├── Unsigned  no commit of the log is signed by an allowed key
│   └── Missing   the log is there, but not all of it is in this repository
└── GitFailed     git ended with an error that is none of the above
    └── Rejected  the remote will not take a push: a hook, a rule or a lacking right
"""

from collections.abc import Sequence

from grite import git_words
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
    """The log holds what this version cannot read."""


class Rewritten(Corrupt):
    """The log does not descend from what was read before: it is not believed."""

    known: str
    """The newest commit that was read before."""
    found: str | None
    """Where the log stands instead; None: it is gone."""
    mend: str
    """What to do; may be empty."""

    def __init__(self, known: str, found: str | None, mend: str = "") -> None:
        self.known = known
        self.found = found
        self.mend = mend
        said = (
            f"the log's head {found} does not descend from {known}, which was read "
            "before"
            if found
            else f"the log is gone; it stood at {known}"
        )
        super().__init__(f"refs/grite/wal: {said}{f': {mend}' if mend else ''}")

    def __reduce__(self) -> tuple[type["Rewritten"], tuple[str, str | None, str]]:
        return type(self), (self.known, self.found, self.mend)


class Unsigned(Corrupt):
    """No commit of the log is signed by an allowed key, so none of it counts."""

    head: str
    """The newest commit."""
    why: str
    """Why that one does not count."""

    def __init__(self, head: str, why: str) -> None:
        self.head = head
        self.why = why
        super().__init__(
            f"refs/grite/wal: no commit of the log counts; {head[:10]}: {why}. If the "
            "log is older than signatures, or its key was replaced, look at it, then "
            f"take it over with: brat log adopt {head}"
        )

    def __reduce__(self) -> tuple[type["Unsigned"], tuple[str, str]]:
        return type(self), (self.head, self.why)


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
        super().__init__(git_words.sentence(self.argv[1:], status, self.stderr))

    def __reduce__(self) -> tuple[type["GitFailed"], tuple[object, ...]]:
        return type(self), (self.argv, self.status, self.stderr)


class Rejected(GitFailed):
    """The remote will not take a push, and pushing the same again will not help."""

    answer: PushAnswer
    """Which refs it refused, and what it said."""

    def __init__(
        self, argv: Sequence[str], status: int, stderr: str, answer: PushAnswer
    ) -> None:
        super().__init__(argv, status, stderr)
        self.answer = answer

    def __reduce__(self) -> tuple[type["Rejected"], tuple[object, ...]]:
        return type(self), (self.argv, self.status, self.stderr, self.answer)

    def __str__(self) -> str:
        if not self.answer.refused:
            return f"the remote refused the push: {self.answer.said}"
        told = (f"{one.ref}: {one.said}" for one in self.answer.refused)
        return f"the remote refused {'; '.join(told)}"
