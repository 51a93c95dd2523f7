"""`brat analytics`: what became of all changes, for people and for programs."""

from pathlib import Path
from typing import Any, Final

import msgspec

from brat.commands.print_views import OK, print_document
from brat.repository import log_export
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.status import analytics_tables
from brat.terminal.console import out, say, write
from convoy.views import SCHEMA_VERSION
from convoy.views.analytics import Analytics, analytics, change_rows, csv_text
from convoy.views.history import ChangeHistory, bot_facts
from grite.errors import BratError

STDOUT: Final = "-"


def figures(path: Path, since: int, table: str | None, *, as_json: bool) -> int:
    """Print what became of the changes that ended at `since` (unix ms) or later.

    Args:
        path: a folder of the repository.
        since: 0: all of them.
        table: the file for a row each, as CSV; `-`: standard output; None: no file.
        as_json: for programs.

    Raises:
        BratError: there is no log here, or the file cannot be written.
    """
    log = log_repository(path)
    state = Reader(log).read()
    history = ChangeHistory()
    history.read(bot_facts(log_export.entries(log), state.bots))
    if table is not None:
        _write_table(table, change_rows(history, since))
        return OK
    found = analytics(history, since)
    if as_json:
        print_document({"schema_version": SCHEMA_VERSION, "analytics": told(found)})
    else:
        out.print(analytics_tables.drawn(found))
    return OK


def told(found: Analytics) -> dict[str, Any]:
    """Return the figures for programs."""
    whole: dict[str, Any] = msgspec.to_builtins(found)
    return whole


def _write_table(file: str, found: list[dict[str, Any]]) -> None:
    text = csv_text(found)
    if file == STDOUT:
        write(text.rstrip("\n"))
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BratError(f"{file}: {error.strerror}") from error
    say(f"wrote {file}")
