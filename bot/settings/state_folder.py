"""Notes in a bot's folder which repository its state belongs to, by the forge's id."""

from pathlib import Path
from typing import Final

from grite.errors import BratError

FILE: Final = "repository"
"""The file, in the bot's folder, that holds the id in decimal digits."""


def owner_of(folder: Path) -> int:
    """Return the id of the repository whose state a folder holds; 0: none's yet.

    Raises:
        BratError: the note cannot be read.
    """
    file = folder / FILE
    try:
        return int(file.read_text())
    except FileNotFoundError:
        return 0
    except (OSError, ValueError) as error:
        raise BratError(
            f"{file} should hold a repository's id ({error}): name another folder, or "
            "delete this one, which is a cache"
        ) from error


def claim(folder: Path, repository: str, number: int) -> None:
    """Note that a folder holds the state of a repository; safe to call again.

    Raises:
        BratError: the folder holds another repository's state.
    """
    known = owner_of(folder)
    if known == number:
        return
    if known:
        raise BratError(
            f"{folder} holds the state of another repository (id {known}), and "
            f"{repository} has the id {number}: name another folder, or the repository "
            "by its new name"
        )
    beside = folder / f".{FILE}"
    beside.write_text(f"{number}\n")
    beside.rename(folder / FILE)
