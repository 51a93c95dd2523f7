"""The allowed signers that the default branch names, read from the bot's clone."""

import pygit2

from grite import objects, signatures
from grite.errors import BratError, Corrupt
from grite.signatures import AllowedSigners


def committed_signers(
    repo: pygit2.Repository, commit: str
) -> tuple[AllowedSigners | None, str]:
    """Return the keys in the file at a commit, and why it cannot be used.

    Args:
        repo: has the commit.
        commit: of the default branch.

    Returns:
        The keys, or None: there is no such file, or the sentence says what is wrong
        with it.
    """
    try:
        data = objects.file_in(repo, commit, signatures.SIGNERS_FILE)
    except (Corrupt, *objects.UNREADABLE):
        return None, ""
    text = data[: signatures.MOST_SIGNERS_BYTES].decode(errors="replace")
    try:
        return signatures.parse_signers(text), ""
    except BratError as error:
        return None, f"{signatures.SIGNERS_FILE} counts for nothing: {error}"
