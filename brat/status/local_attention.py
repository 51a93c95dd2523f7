"""Problems on this machine that wait for a person and are not in the log."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pygit2

from bot import VERSION
from brat.repository.checkout import common_folder
from brat.repository.forge_files import forge_in_use, labelled_issues
from brat.repository.registration import CONFIG, DAEMON_FILE, REGISTRATION, STATE_FOLDER
from convoy.model.state import State
from convoy.views.interventions import Intervention, unread_issues, unusable_config
from grite.errors import BratError


def here(path: Path, state: State, *, runs: bool = False) -> tuple[Intervention, ...]:
    """Return the faults of this checkout's configuration and bot, and unread issues.

    A clone without a checkout, or a bot that runs elsewhere, is not checked.
    """
    found = pygit2.discover_repository(str(path))
    if found is None:
        return ()
    repository = pygit2.Repository(found)
    if repository.is_bare or repository.workdir is None:
        return ()
    config = Path(repository.workdir) / CONFIG
    folder = common_folder(repository.path).resolve() / STATE_FOLDER
    down = () if runs else ended_daemon(folder)
    return (
        *_configuration(config, folder),
        *down,
        *_unread(folder, state, runs=runs),
        *_beside_landed(path, folder),
    )


def stands_still(path: Path, state: State) -> bool:
    """Whether work could go on here, but no process of brat is there to do it."""
    found = pygit2.discover_repository(str(path))
    active = (each for each in state.live() if each.state == "active")
    left = (task for each in active for task in each.tasks if not task.settled)
    if not found or all(task.state == "blocked" or task.waits_aside for task in left):
        return False
    folder = common_folder(found).resolve() / STATE_FOLDER
    return (folder / REGISTRATION).exists() and not forge_in_use(folder)


VALID: Final = "valid-config"
"""The digest of the configuration in which this brat found no fault; may be deleted."""


def _configuration(file: Path, folder: Path) -> Iterator[Intervention]:
    """Yield what is wrong with a file, unless it is the one that was valid before."""
    if not file.exists():
        return
    text, known = None, folder / VALID
    with suppress(OSError):  # it is told below
        text = file.read_bytes()
    digest = hashlib.sha256(VERSION.encode() + (text or b"")).hexdigest()
    with suppress(OSError):
        if known.read_text(errors="replace") == digest:
            return
    from bot.settings.bot_settings import config_in  # slow to load
    from convoy.config import ConfigError, load

    try:
        config_in(file, source=CONFIG) if text is None else load(text, source=CONFIG)
    except ConfigError as error:
        yield unusable_config(str(error))
    else:
        with suppress(OSError):  # then the next time takes as long
            known.write_text(digest)


def ended_daemon(folder: Path) -> Iterator[Intervention]:
    """Yield that the bot of brat's folder ended by itself, if it did."""
    if not (folder / DAEMON_FILE).exists():
        return
    from brat.local import other_processes  # slow to load

    known = other_processes.known_daemon(folder)
    if known is not None and not known.alive:
        why = "the background bot ended unexpectedly, so work has stopped"
        commands = ("brat daemon start", "brat daemon status")
        yield Intervention(kind="bot_down", why=why, commands=commands)


def _unread(folder: Path, state: State, *, runs: bool) -> Iterator[Intervention]:
    try:
        issues = labelled_issues(folder)
    except BratError as error:
        yield Intervention(kind="unread_issue", why=str(error))
        return
    if issues:
        runs = runs or forge_in_use(folder)
        yield from unread_issues(issues, state, () if runs else ("brat up",))


def _beside_landed(path: Path, folder: Path) -> Iterator[Intervention]:
    """Give the person's commits that cannot be taken up as they are."""
    if not (folder / REGISTRATION).exists():
        return
    from brat.repository import checkout as checkouts, registration
    from brat.repository.checkout import branches_apart  # slow to load

    try:
        checkout, known = checkouts.find(path), registration.read(folder)
        found = branches_apart(checkout, known)
        is_beside = found.own and found.landed
        changed = checkouts.in_its_way(checkout, known) if is_beside else ()
    except BratError:
        return  # no branch, or no forge: other commands say what to do
    if is_beside:
        why = f"your commits on {known.branch} are waiting: other work has landed"
        why += f"; first {checkouts.mending(checkout, changed)}" * bool(changed)
        yield Intervention(kind="commits_beside", why=why, commands=("brat pull",))
