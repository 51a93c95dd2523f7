"""`brat session show`: one session, whether it runs or has ended."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.status.ended_session import ended_session
from brat.status.find_task import session_names
from brat.status.status_screen import kept_lines
from brat.terminal.console import write
from convoy import views
from convoy.text import clock, did_you_mean
from grite.errors import BratError

OK: Final = 0
INDENT: Final = "    "


def session(path: Path, name: str, *, as_json: bool) -> int:
    """Print one session: what it is at, or how it ended and what it printed last.

    Raises:
        BratError: there is none of that name; it says the nearest.
    """
    log = log_repository(path)
    state = Reader(log).read()
    running = {str(row["name"]): row for row in views.sessions(state)}
    if name in running:
        return _told(running[name], _running(running[name]), as_json=as_json)
    ended = ended_session(path, log, state, name)
    if ended is None:
        near = (
            did_you_mean(name, session_names(state))
            or "; see `brat session list --all`"
        )
        raise BratError(f"there is no session {name}{near}")
    return _told(ended.document(), ended.lines(), as_json=as_json)


def _told(
    whole: dict[str, Any], lines: Iterator[tuple[str, str]], *, as_json: bool
) -> int:
    if as_json:
        told = {"schema_version": views.SCHEMA_VERSION, "session": whole}
        write(msgspec.json.format(json.dumps(told), indent=2))
        return OK
    for label, said in lines:
        if said:
            write(f"{label:14} {kept_lines(said, INDENT)}")
    return OK


def _running(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in row.items():
        since = clock(value) if key == "since_ms" and value else value
        yield key.removesuffix("_ms"), "" if since is None else str(since)
