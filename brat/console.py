"""Where the command line writes: people's lines on stderr, results on stdout."""

import sys
from collections.abc import Callable
from typing import Final

from rich.console import Console

Tell = Callable[[str], None]
"""Is told one line for a person."""

PIPED_COLUMNS: Final = 140
"""How wide tables are where nobody knows the width."""


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPED_COLUMNS
    return Console(stderr=stderr, soft_wrap=True, highlight=False, width=width)


out: Final = _console(stderr=False)
err: Final = _console(stderr=True)


def say(line: str) -> None:
    """Say one line to the person."""
    err.print(line, markup=False)


def fail(line: str) -> None:
    """Say what went wrong."""
    err.print(f"brat: {line}", markup=False)


def write(text: str) -> None:
    """Write a result to standard output, as it is."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
