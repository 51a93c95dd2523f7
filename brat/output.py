"""What a session on this machine's forge prints, while it runs and after.

The runner redacted it; control codes are taken out here, for it ends up on screens.
"""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from brat.forge.run_environment import Place
from brat.registration import FORGE_FOLDER
from convoy.text.plaintext import clean

LOOK_S: Final = 0.3
LAST_BYTES: Final = 64 * 1024
"""How much of the end people are shown at first."""
Running = Callable[[], bool]
"""Whether the session still runs."""
_COMMAND: Final = re.compile(r"^::[^\n]*\n?", re.MULTILINE)
"""Workflow commands, such as the marks around an agent's words."""


def file_of(folder: Path, run: int) -> Path:
    """Return where a run's output lies; it may not be there yet.

    Args:
        folder: brat's own in the repository.
        run: the forge's number of the workflow run.
    """
    return Place(folder / FORGE_FOLDER / "runs" / str(run)).log


def last(file: Path) -> str:
    """Return the end of what was printed so far; empty: nothing is there."""
    try:
        with file.open("rb") as log:
            start = max(0, file.stat().st_size - LAST_BYTES)
            log.seek(start)
            text = log.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return shown(text.partition("\n")[2] if start else text)


def shown(text: str) -> str:
    """Return output as people may see it. Pure."""
    return clean(_COMMAND.sub("", text))


def follow(file: Path, running: Running) -> Iterator[str]:
    """Give what is printed from the beginning on, until the session has ended."""
    place = 0
    while True:
        ended = not running()
        if file.exists():
            with file.open("rb") as log:
                log.seek(place)
                chunk = log.read()
            whole = chunk.rpartition(b"\n")[0] + b"\n" if b"\n" in chunk else b""
            whole = chunk if ended else whole
            place += len(whole)
            if whole:
                yield shown(whole.decode(errors="replace"))
        if ended:
            return
        time.sleep(LOOK_S)
