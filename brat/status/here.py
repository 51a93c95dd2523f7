"""What waits for a person on this machine, beside what the log says."""

from collections.abc import Iterator
from pathlib import Path

from brat import checkout as checkouts, daemon
from convoy.config import ConfigError, load
from convoy.told.interventions import Intervention
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
        first, *more = str(error).splitlines() or [repr(error)]
        others = f" (and {len(more)} more)" if more else ""
        why = f"the configuration cannot be used: {first}{others}"
        yield Intervention(
            kind="config_error", why=why, commands=("brat config check",)
        )


def _daemon(folder: Path) -> Iterator[Intervention]:
    known = daemon.known(folder)
    if known is not None and not known.alive:
        why = "the bot in the background ended without being asked, so nothing goes on"
        commands = ("brat daemon start", "brat daemon status")
        yield Intervention(kind="bot_down", why=why, commands=commands)
