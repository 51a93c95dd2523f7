"""`brat report`: read the log here, and write the page."""

from pathlib import Path

from bot import wall_clock
from brat.report.report_page import page
from brat.report.report_slider import moments
from brat.repository import log_export
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.status.find_task import live_or_named
from brat.terminal.console import say
from convoy.log.record import convoy_steps
from convoy.views import history
from grite.errors import BratError
from grite.wal import Log


def report(path: Path, convoy: str | None, out: Path | None) -> None:
    """Write the report of a convoy, and say which file holds it; needs no bot.

    Args:
        path: a folder of the repository.
        convoy: its name; None: the convoy that has not ended, or the last.
        out: the file; None: a file named after the convoy, in the current folder.

    Raises:
        BratError: there is no log or no such convoy, or the file cannot be written.
    """
    log = log_repository(path)
    reader = Reader(log)
    state = reader.read()
    found = live_or_named(state, convoy)
    steps = convoy_steps(Log(log), str(reader.reading.head), found.name)
    facts = history.bot_facts(log_export.entries(log), state.bots)
    file = out or Path(f"brat-{found.name}.html")
    text = page(found, facts, wall_clock(), moments(steps))
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BratError(f"{file}: {error.strerror}") from error
    say(f"wrote {file}")
