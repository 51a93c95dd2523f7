"""Where a repository's log lies: in the repository itself, or on its local forge."""

from pathlib import Path
from typing import Final

import pygit2

from grite.errors import BratError
from grite.wal import WAL_REF

CONFIG: Final = ".brat/config.toml"
STATE_FOLDER: Final = "brat"
"""brat's own, inside the git folder."""
DAEMON_FILE: Final = "daemon.json"
"""In that folder: the bot in the background."""
FETCH = "git fetch origin 'refs/grite/*:refs/grite/*'"


def log_repository(path: Path) -> Path:
    """Return the repository whose refs hold the log of the one `path` lies in.

    A clone that has fetched refs/grite/* holds it itself; a repository that brat was
    told of by `brat init` has it on its local forge.

    Raises:
        BratError: neither; it says how to get the log.
    """
    found = pygit2.discover_repository(str(path))
    if found is None:
        raise BratError(f"{path} is not in a git repository: give --repo")
    repository = pygit2.Repository(found)
    if WAL_REF in repository.references:
        return Path(repository.path)
    if repository.is_bare:
        raise BratError(f"{path} holds no log; bring it with: {FETCH}")
    # Slow to load, and clones need none of it.
    from brat import checkout as checkouts, registration as registrations

    folder = checkouts.find(path).folder
    try:
        known = registrations.read(folder)
    except BratError as error:
        raise BratError(
            f"{path} holds no log: `brat init` begins one here, and in a clone of a "
            f"repository that has one, bring it with: {FETCH}"
        ) from error
    return registrations.bare_path(folder, known)
