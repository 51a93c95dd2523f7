"""The console of the command line: messages on stderr, results on stdout."""

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from rich.console import Console

Tell = Callable[[str], None]
"""A function that shows one line to a person."""


class LogForm(StrEnum):
    """How the log of a service looks."""

    TEXT = "text"
    JSON = "json"


PIPED_COLUMNS: Final = 140
"""The width of tables when the terminal's width is unknown."""


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPED_COLUMNS
    return Console(
        stderr=stderr,
        soft_wrap=True,
        markup=False,  # what is printed is data: paths, titles, a forge's words
        highlight=False,
        emoji=False,
        width=width,
    )


out: Final = _console(stderr=False)
err: Final = _console(stderr=True)


def say(line: str) -> None:
    """Say one line to the person."""
    err.print(line)


def agrees(question: str) -> bool:
    """Ask the person; only `yes` agrees, and without a terminal the answer is no."""
    if not sys.stdin.isatty():
        say(f"{question} There is no terminal to ask: use --yes.")
        return False
    err.print(f"{question} Type yes: ", end="")
    return sys.stdin.readline().strip().lower() == "yes"


def typed_key(name: str) -> str:
    """Return what a person types for a key, which is not shown; "" on no answer."""
    import getpass

    try:
        return getpass.getpass(f"{name} (hidden; empty to skip): ")
    except (EOFError, KeyboardInterrupt):
        return ""


def fail(line: str) -> None:
    """Say what went wrong."""
    err.print(f"brat: {line}")


def write(text: str) -> None:
    """Write a result to standard output, as it is."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
