"""Problems on this machine that wait for a person and are not in the log."""

from collections.abc import Iterator
from pathlib import Path

import pygit2

from brat.repository.state_files import CONFIG, DAEMON_FILE, STATE_FOLDER
from convoy.views.interventions import Intervention, unusable


def here(path: Path) -> tuple[Intervention, ...]:
    """Return the faults of this checkout's configuration and bot.

    A clone without a checkout, or a bot that runs elsewhere, is not checked.
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
    from bot.settings.config_file import config_in  # slow to load
    from convoy.config import ConfigError

    try:
        config_in(file, source=CONFIG)
    except ConfigError as error:
        yield unusable(str(error))


def _daemon(folder: Path) -> Iterator[Intervention]:
    if not (folder / DAEMON_FILE).exists():
        return
    from brat.local import daemon_record  # slow to load

    known = daemon_record.known(folder)
    if known is not None and not known.alive:
        why = "the bot in the background ended without being asked, so nothing goes on"
        commands = ("brat daemon start", "brat daemon status")
        yield Intervention(kind="bot_down", why=why, commands=commands)
