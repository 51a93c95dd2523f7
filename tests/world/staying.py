"""A command that is typed and stays until the test has seen enough."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.world.given_secrets import given_in
from tests.world.terminal import BRAT, Terminal


@contextmanager
def typed(
    terminal: Terminal, *words: str, **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Type a command that stays, in a shell with these variables, too."""
    given_in(variables)
    process = subprocess.Popen(
        [BRAT, *words],
        cwd=terminal.cwd,
        env=terminal.environment() | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()
