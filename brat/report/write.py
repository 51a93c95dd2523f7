"""What `brat report` does: read the log here, and write the page."""

from pathlib import Path

from bot.clock import wall_clock
from brat import logbook
from brat.console import say
from brat.places import log_repository
from brat.reading import Reader
from brat.report.page import page
from brat.status.find import live_or_named
from convoy.told import timeline
from grite.errors import BratError


def report(path: Path, convoy: str | None, out: Path | None) -> None:
    """Write the report of a convoy, and say where; needs no bot.

    Args:
        path: a folder of the repository.
        convoy: its name; None: the one that has not ended, or the last.
        out: the file; None: one named after the convoy, in this folder.

    Raises:
        BratError: there is no log or no such convoy, or the file cannot be written.
    """
    log = log_repository(path)
    state = Reader(log).read()
    found = live_or_named(state, convoy)
    facts = timeline.facts(logbook.entries(log), state.bots)
    file = out or Path(f"brat-{found.name}.html")
    try:
        file.write_text(page(found, facts, wall_clock()), encoding="utf-8")
    except OSError as error:
        raise BratError(f"{file}: {error.strerror}") from error
    say(f"wrote {file}")
