"""The console of the command line: messages on stderr, results on stdout."""

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rich.console import Console

Tell = Callable[[str], None]
"""A function that shows one line to a person."""


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


_elsewhere: list[str] = []
_COMMAND: Final = re.compile(
    r"\bbrat (?:(?:task|convoy|session|lock|log|config|mayor|witness|refinery|deacon"
    r"|daemon|workflow) [a-z]+|run|status|why|diff|approve|retry|drop|allow|pause"
    r"|resume|cancel|pull|queue|cost|report|dashboard|setup|init|up|doctor|uninstall)\b"
    r"|\bgit (?=(?:commit|fetch|merge|pull|push|rebase|switch) )"
)


def name_repository(path: Path) -> Path:
    """Let the commands that people are told name a repository that is not here."""
    is_here = path.resolve() == Path.cwd()
    _elsewhere[:] = [] if is_here else [shlex.quote(str(path))]
    return path


def from_here(text: str, *, alone: bool = False) -> str:
    """Return a text whose commands work where the person is; `alone`: it is one."""

    def named(found: re.Match[str]) -> str:
        (where,) = _elsewhere
        is_git = found[0].startswith("git")
        return f"git -C {where} " if is_git else f"{found[0]} --repo {where}"

    if _elsewhere and alone and text.startswith("brat "):
        return f"{text} --repo {_elsewhere[0]}"
    return _COMMAND.sub(named, text) if _elsewhere else text


def say(line: str) -> None:
    err.print(from_here(line))


def agrees(question: str, *, yes: bool) -> bool:
    """Ask the person; only `yes` agrees, and without a terminal the answer is no.

    `yes`: they have agreed before.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        say(f"{question} This is not a terminal: use --yes to confirm.")
        return False
    err.print(f'{question} Type "yes" to continue: ', end="")
    return sys.stdin.readline().strip().lower() == "yes"


def typed_key(name: str) -> str:
    """Return what a person types for a key, which is not shown; "" on no answer."""
    import getpass

    try:
        return getpass.getpass(f"{name} (input is hidden; press Enter to skip): ")
    except (EOFError, KeyboardInterrupt):
        return ""


def write(text: str) -> None:
    """Write a result to standard output, as it is."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
