"""What waits for a person on this machine, beside what the log says."""

from collections.abc import Iterator
from pathlib import Path

import pygit2

from brat.places import CONFIG, DAEMON_FILE, STATE_FOLDER
from convoy.told.interventions import Intervention, unusable


def here(path: Path) -> tuple[Intervention, ...]:
    """Return what is wrong with the configuration, and with the bot of this checkout.

    A clone without a checkout, or a bot that runs elsewhere, is not looked at.
    """
    found = pygit2.discover_repository(str(path))
    if found is None:
        return ()
    repository = pygit2.Repository(found)
    if repository.is_bare or repository.workdir is None:
        return ()
    config = Path(repository.workdir) / CONFIG
    folder = _common(repository.path).resolve() / STATE_FOLDER
    return (*_configuration(config), *_daemon(folder))


def _common(git_folder: str) -> Path:
    """Return the git folder that all work trees of a repository share.

    https://git-scm.com/docs/gitrepository-layout (commondir)
    """
    folder = Path(git_folder)
    said = folder / "commondir"
    return folder / said.read_text().strip() if said.is_file() else folder


def _configuration(file: Path) -> Iterator[Intervention]:
    if not file.exists():
        return
    from convoy.config import ConfigError, load  # slow to load

    try:
        load(file.read_text(encoding="utf-8"), source=CONFIG)
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        yield unusable(str(error) or repr(error))


def _daemon(folder: Path) -> Iterator[Intervention]:
    if not (folder / DAEMON_FILE).exists():
        return
    from brat import background  # slow to load

    known = background.known(folder)
    if known is not None and not known.alive:
        why = "the bot in the background ended without being asked, so nothing goes on"
        commands = ("brat daemon start", "brat daemon status")
        yield Intervention(kind="bot_down", why=why, commands=commands)
