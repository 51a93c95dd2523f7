"""Whose signatures a reader of the log believes, where no forge is asked.

The log of a local forge: this machine's bot, whose public key lies in its folder. Any
other: what `.brat/allowed_signers` says on the default branch as it was last fetched.
"""

from pathlib import Path
from typing import Final

import pygit2

from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER
from grite import objects, signatures
from grite.errors import BratError, Corrupt
from grite.signatures import Authority

_DEFAULT: Final = ("refs/remotes/origin/HEAD", "HEAD")
_REPOSITORIES: Final = "repos"


def authority_of(path: Path) -> Authority | None:
    """Return whose signatures count for the log in a repository; None: nobody says.

    The repository's id is the forge's, so it is not known here, and any is taken.

    Args:
        path: a repository that holds a log, bare or not.

    Raises:
        BratError: a line of the file is wrong.
    """
    local = _of_local_forge(path.resolve())
    text = _text(local) if local is not None else _committed(path)
    return None if text is None else Authority("", signatures.parse_signers(text))


def _of_local_forge(path: Path) -> Path | None:
    """Return the file with the key of the bot of the local forge that `path` is in."""
    above = path.parents
    names = [each.name for each in above[1:3]]
    if names != [_REPOSITORIES, FORGE_FOLDER]:
        return None
    return above[3] / BOT_FOLDER / signatures.BOT_SIGNERS_FILE


def _text(file: Path) -> str | None:
    try:
        return file.read_text()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BratError(f"{file} cannot be read: {error}") from error


def _committed(path: Path) -> str | None:
    repo = pygit2.Repository(str(path))
    for name in _DEFAULT:
        try:
            commit = str(repo.references[name].peel(pygit2.Commit).id)
            data = objects.file_in(repo, commit, signatures.SIGNERS_FILE)
        except (Corrupt, *objects.UNREADABLE):
            continue  # there is no such branch, or no such file on it
        return data[: signatures.MOST_SIGNERS_BYTES].decode(errors="replace")
    return None
