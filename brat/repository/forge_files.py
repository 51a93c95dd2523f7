"""What files say of the local forge: its labelled issues, and whether it is served.

Of the forge only its records are loaded: whoever looks at the status waits for it.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from brat.forge.resources.forge_records import Issue, Label
from brat.repository.registration import FORGE_FOLDER, RECORDS, damaged
from convoy.events.hold_events import NO_LABEL
from convoy.views.interventions import LabelledIssue


def forge_in_use(folder: Path) -> bool:
    """Whether a living process has the forge in brat's folder open."""
    from filelock import FileLock, Timeout  # slow to load

    lock = FileLock(folder / FORGE_FOLDER / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


LABEL: Final = "brat"
"""Asks for a convoy on the local forge."""
_READ: Final = "SELECT body FROM records WHERE kind = ? ORDER BY id"
_Kind = TypeVar("_Kind")


def labelled_issues(folder: Path) -> tuple[LabelledIssue, ...]:
    """Return the open issues of the forge in brat's folder that ask for a convoy."""
    file = folder / RECORDS
    if not file.exists():
        return ()
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as store:
            names = {each.id: each.name for each in _records(store, Label)}
            issues = _records(store, Issue)
    except (sqlite3.Error, msgspec.MsgspecError) as error:
        raise damaged(folder, error) from error
    found = []
    for issue in issues:
        has = {names.get(number, "").casefold() for number in issue.labels}
        if issue.state == "open" and not issue.pull and LABEL in has:
            keeps = NO_LABEL if NO_LABEL in has else ""
            found.append(
                LabelledIssue(number=issue.number, title=issue.title, never=keeps)
            )
    return tuple(found)


def _records(store: sqlite3.Connection, kind: type[_Kind]) -> list[_Kind]:
    decode = msgspec.json.Decoder(kind).decode
    return [decode(body) for (body,) in store.execute(_READ, (kind.__name__,))]
