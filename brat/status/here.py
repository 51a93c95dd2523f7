"""What waits for a person on this machine, beside what the log says."""

from collections.abc import Iterator
from pathlib import Path

from brat import background, checkout as checkouts
from convoy.config import ConfigError, load
from convoy.told.interventions import Intervention, unusable
from grite.errors import BratError


def here(path: Path) -> tuple[Intervention, ...]:
    """Return what is wrong with the configuration, and with the bot of this checkout.

    A clone without a checkout, or a bot that runs elsewhere, is not looked at.
    """
    try:
        checkout = checkouts.find(path)
    except BratError:
        return ()
    return (*_configuration(checkout.config), *_daemon(checkout.folder))


def _configuration(file: Path) -> Iterator[Intervention]:
    try:
        load(file.read_text(encoding="utf-8"), source=checkouts.CONFIG)
    except FileNotFoundError:
        return
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        yield unusable(str(error) or repr(error))


def _daemon(folder: Path) -> Iterator[Intervention]:
    known = background.known(folder)
    if known is not None and not known.alive:
        why = "the bot in the background ended without being asked, so nothing goes on"
        commands = ("brat daemon start", "brat daemon status")
        yield Intervention(kind="bot_down", why=why, commands=commands)
