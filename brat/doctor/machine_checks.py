"""What brat needs of this machine while it works: room, its bot, what it was asked."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from bot.door.inbox import UNREADABLE
from brat.doctor.finding import Finding
from brat.status.local_attention import ended_daemon
from runner.box import surroundings
from runner.box.surroundings import CREDENTIALS

LEAST: Final = 1_000_000_000
"""Bytes; a checkout for each session at work has to fit in."""


def checks(folder: Path) -> Iterator[Finding]:
    """Yield what is found of the machine that brat's folder is on."""
    yield room(shutil.disk_usage(folder).free, folder)
    yield tools(surroundings.own_tool_variables(), Path.home())
    for each in ended_daemon(folder):
        yield Finding("fault", each.why, each.commands[0])
    for file in sorted(folder.glob(f"bot/inbox/*{UNREADABLE}")):
        told = f"what was asked for in {file} could not be read and is set aside"
        yield Finding("note", told, "ask again, by a label or a comment, and delete it")


def tools(variables: Mapping[str, str], home: Path) -> Finding:
    """Return what of a person's terminal agents and CI have, and what is kept away."""
    has = ", ".join(("PATH", *sorted(variables)))
    kept = [f"~/{each}" for each in CREDENTIALS if os.path.lexists(home / each)]
    but = f", but not {', '.join(kept)}" if kept else ""
    return Finding("ok", f"of your terminal agents and CI have {has}{but}")


def room(free: int, folder: Path) -> Finding:
    """Return whether so many free bytes are enough."""
    left = f"{free / 1e9:.1f} GB are free where sessions work"
    if free >= LEAST:
        return Finding("ok", left)
    mend = f"delete something on that disk: {folder}"
    return Finding("fault", f"only {left}", mend)
