"""`brat top`: the agents at work, live."""

from pathlib import Path
from typing import Final

from bot import wall_clock
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.status import all_repositories
from brat.status.fleet_screen import Place, fleet_view, place_of
from brat.terminal import live_screen
from brat.terminal.console import out
from brat.terminal.pinning import View
from grite.errors import BratError

OK: Final = 0


def top(path: Path, *, everywhere: bool, once: bool) -> int:
    """Show the agents at work until `q` is pressed.

    Args:
        path: a folder of the repository, or one that holds repositories.
        everywhere: of every repository below the folder.
        once: print them and end.

    Raises:
        BratError: there is no log here.
    """
    places = _everywhere(path) if everywhere else _here(path)

    def seen() -> View:
        return fleet_view(places, wall_clock())

    if once:
        out.print(seen().rest)
    else:
        live_screen.watch(seen, "agents at work", "brat top")
    return OK


def _here(path: Path) -> dict[str, Place]:
    return {"": place_of(path, Reader(log_repository(path)))}


def _everywhere(path: Path) -> dict[str, Place]:
    found, _ = all_repositories.readers(path)
    if not found:
        raise BratError(f"no repository below {path} holds a log; see: brat init")
    root = all_repositories.around(path.resolve())
    return {name: place_of(root / name, reader) for name, reader in found.items()}
