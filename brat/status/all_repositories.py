"""`brat status --all-repos`: every repository below a folder that holds a log.

It finds clones that have the log, repositories that brat serves on this machine, and,
in a bot's own folder, the mirrors of all repositories that the bot serves.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pygit2
from rich.console import Group, RenderableType
from rich.text import Text

from bot import wall_clock
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.repository.state_files import REGISTRATION, STATE_FOLDER
from brat.terminal.pinning import View
from convoy import views
from grite.errors import BratError

DEPTH: Final = 5
_PASSED: Final = frozenset({"node_modules", "site-packages"})


def readers(path: Path) -> tuple[dict[str, Reader], dict[str, str]]:
    """Return a reader of each repository's log, and why others cannot be read.

    Both are by the repository's path.

    Args:
        path: the folder to search; if in a repository, the repository's parent.
    """
    root = around(path.resolve())
    found: dict[str, Reader] = {}
    broken: dict[str, str] = {}
    for place in _repositories(root, DEPTH):
        name = str(place.relative_to(root))
        try:
            found[name] = Reader(log_repository(place))
        except BratError as error:
            if (place / ".git" / STATE_FOLDER / REGISTRATION).exists():
                broken[name] = str(error)
    return found, broken


def around(path: Path) -> Path:
    """Return the folder to search: if in a repository, the repository's parent."""
    own = pygit2.discover_repository(str(path))
    if own is None:
        return path
    folder = Path(own)
    return folder.parent.parent if folder.name == ".git" else path


def _repositories(folder: Path, depth: int) -> Iterator[Path]:
    """Yield each repository below a folder, in order; nested ones are left out."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # we may not read it
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False) or entry.name in _PASSED:
            continue
        path = Path(entry.path)
        if (path / ".git").exists() or (path / "HEAD").is_file():
            yield path
        elif depth and not entry.name.startswith("."):
            yield from _repositories(path, depth - 1)


def told(found: dict[str, Reader]) -> list[dict[str, object]]:
    """Return each repository's path and status, for programs."""
    return [
        {
            "path": name,
            "status": views.state_document(reader.read(), wall_clock(), reader.faults),
        }
        for name, reader in found.items()
    ]


def headed(name: str, shown: RenderableType) -> Group:
    """Return one repository's view, with its path as a heading."""
    return Group(Text(name, style="bold underline"), shown)


def together(views: Mapping[str, View], broken: Mapping[str, str]) -> View:
    """Return one view of several repositories; each item on top says whose it is."""
    return View(
        pinned=tuple(
            Group(Text(f"  {name}:", style="bold"), item)
            for name, view in views.items()
            for item in view.pinned
        ),
        rest=Group(
            *(headed(name, view.rest) for name, view in views.items()),
            *(headed(name, Text(why)) for name, why in broken.items()),
        ),
    )
