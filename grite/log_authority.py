"""Who may write the log, its checkpoints and its locks: whoever holds an allowed key.

A commit counts if an allowed key signed it and it names this repository. It vouches for
the chain below it, but for the foreign commits that it lists: a reader checks one
signature, the newest. Commits of another kind, repository or key vouch for nothing.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from grite.allowed_signers import AllowedSigners
from grite.commit_signature import Sign, fingerprint, is_signed, signer_of

ENTRY: Final = "WAL: "
CHECKPOINT: Final = "Checkpoint at "
LOCK: Final = "Lock: "
"""How the messages of signed commits begin; none of them passes for another."""
REPOSITORY: Final = "Repository-Id: "
FOREIGN: Final = "Foreign: "
_FOREIGN: Final = re.compile(rb"^Foreign: ([0-9a-f]{40}|[0-9a-f]{64})$", re.MULTILINE)
_DATE: Final = re.compile(rb"\ncommitter [^\n]* (\d{1,12}) [+-]\d{4}(?:\n|$)")


class Authority(Struct, frozen=True):
    """Whose signatures count in a repository."""

    repository: str
    """The forge's id of the repository, digits; a rename keeps it.

    Empty: the id is unknown and every id is accepted; only for reading.
    """
    signers: AllowedSigners

    def fault(self, commit: bytes, kind: str) -> str:
        """Return why a commit does not count; empty: it does.

        Args:
            commit: all of its bytes, as `git cat-file commit` prints them.
            kind: how its message has to begin: `ENTRY`, `CHECKPOINT` or `LOCK`.
        """
        head, _, message = commit.partition(b"\n\n")
        if not is_signed(commit):
            return "it is not signed"
        subject, _, trailers = message.partition(b"\n\n")
        if not subject.startswith(kind.encode()):
            return f"its message does not begin with {kind.strip()}"
        named = trailers.partition(b"\n")[0].decode(errors="replace")
        wanted = REPOSITORY + self.repository
        if named != wanted and (self.repository or not named.startswith(wanted)):
            return f"it names another repository than {self.repository}: {named[:60]!r}"
        public, date = signer_of(commit), _DATE.search(head)
        if public is None or date is None:
            return "its signature is not valid"
        if not self.signers.allows(public, int(date[1])):
            return f"the key that signed it is not allowed: {fingerprint(public)}"
        return ""


class Writer(Struct, frozen=True):
    """Who writes the log: for which repository, and by which key."""

    repository: str
    sign: Sign


def message(subject: str, repository: str, trailers: Sequence[str] = ()) -> str:
    """Return the message of a commit that vouches for the chain below it.

    Args:
        subject: the first line.
        repository: the forge's id of the repository.
        trailers: the lines after the one that names the repository.

    Raises:
        ValueError: the subject has several lines, or the id is none.
    """
    if "\n" in subject or re.fullmatch(r"[0-9]+", repository) is None:
        raise ValueError(f"{subject!r} in repository {repository!r} cannot be signed")
    return "\n".join((subject, "", REPOSITORY + repository, *trailers))


def foreign_lines(commits: Sequence[str]) -> tuple[str, ...]:
    """Return the trailers by which a commit says that others count for nothing."""
    return tuple(FOREIGN + commit for commit in commits)


def foreign_in(commit: bytes) -> tuple[str, ...]:
    """Return the commits that a signed commit lists as foreign; not verified here."""
    if b"\nForeign: " not in commit or not is_signed(commit):
        return ()
    return tuple(found.decode() for found in _FOREIGN.findall(commit))
