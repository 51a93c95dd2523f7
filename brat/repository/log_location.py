"""The place of a repository's log: in the repository itself, or on its local forge."""

from pathlib import Path
from typing import Final

import pygit2

from grite.errors import BratError
from grite.wal import WAL_REF

FETCH: Final = "git fetch origin 'refs/grite/*:refs/grite/*'"


def log_repository(path: Path) -> Path:
    """Return the repository that holds the log of the repository `path` lies in.

    A clone that has fetched refs/grite/* holds the log itself; the log of a repository
    that `brat init` registered is on its local forge.

    Raises:
        BratError: there is no log, or it is not known where; the message says what to
            do.
    """
    found = pygit2.discover_repository(str(path))
    if found is None:
        raise BratError(f"{path.resolve()} is not in a git repository: give --repo")
    repository = pygit2.Repository(found)
    if WAL_REF in repository.references:
        return Path(repository.path)
    if repository.is_bare:
        raise BratError(f"{path} holds no log; bring it with: {FETCH}")
    # Slow to load, and clones do not need these modules.
    from brat.repository import checkout as checkouts, registration as registrations

    folder = checkouts.find(path).folder
    known = registrations.known(folder)
    if known is None:
        raise BratError(
            f"{path.resolve()} holds no log: `brat init` begins one here, and in a "
            f"clone of a repository that has one, bring it with: {FETCH}"
        )
    return registrations.bare_path(folder, known)
