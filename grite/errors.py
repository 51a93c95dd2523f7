"""Everything this project raises on purpose.

BratError
├── Conflict      someone else wrote first; read again and decide again
├── Unavailable   the other side did not answer in time; trying later may help
├── Corrupt       the log holds what this version cannot read; a person must look
└── GitFailed     git ended with an error that is none of the above
"""

from collections.abc import Sequence

STDERR_CHARS = 2000


class BratError(Exception):
    """The root of all errors this project raises on purpose."""


class Conflict(BratError):
    """Someone else wrote first; nothing of ours was written. Read again."""


class Unavailable(BratError):
    """The other side did not answer (network, deadline); later may help.

    A write that ends like this may have arrived: read before doing it again.
    """


class Corrupt(BratError):
    """The log holds what this version cannot read."""


class GitFailed(BratError):
    """git ended with an error."""

    argv: tuple[str, ...]
    status: int
    """The exit status; negative for the signal that ended it."""
    stderr: str
    """Its last 2000 characters, without secrets."""

    def __init__(self, argv: Sequence[str], status: int, stderr: str) -> None:
        self.argv = tuple(argv)
        self.status = status
        self.stderr = stderr[-STDERR_CHARS:]
        last = self.stderr.strip().rpartition("\n")[2] or "it said nothing"
        super().__init__(f"`{' '.join(self.argv)}` ended with {status}: {last}")

    def __reduce__(self) -> tuple[type["GitFailed"], tuple[tuple[str, ...], int, str]]:
        return type(self), (self.argv, self.status, self.stderr)
