"""Where the command line writes: people's lines on stderr, results on stdout."""

import sys
from typing import Final

from rich.console import Console

out: Final = Console(soft_wrap=True, highlight=False)
err: Final = Console(stderr=True, soft_wrap=True, highlight=False)


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
