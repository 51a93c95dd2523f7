"""The forge's memory: records in memory, written through to one SQLite file.

All changes of a `change()` block reach the file together or not at all, so a process
that dies at any moment leaves a state that makes sense. A block never awaits: other
tasks would write into it.
"""

import sqlite3
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from msgspec import json
from msgspec.structs import replace

from brat.forge.resources import forge_records as records
from brat.forge.resources.forge_records import Record, Sequence

R = TypeVar("R", bound=Record)
_SEQUENCE: Final = 0


class Table(Generic[R]):
    def __init__(
        self, store: "Store", kind: type[R], group: Callable[[R], Hashable]
    ) -> None:
        self._store = store
        self._kind = kind
        self._group = group
        self.load()
        store.tables.append(self)

    def load(self) -> None:
        """Forget what memory holds, and read the file."""
        self._records: dict[int, R] = {}
        self._groups: dict[Hashable, dict[int, None]] = {}
        decode = json.Decoder(self._kind).decode
        query = "SELECT body FROM records WHERE kind = ? ORDER BY id"
        for (body,) in self._store.db.execute(query, (self._kind.__name__,)):
            self._replace(None, decode(body))

    def get(self, number: int) -> R | None:
        return self._records.get(number)

    def all(self) -> list[R]:
        """Return every record, oldest first."""
        return [self._records[number] for number in sorted(self._records)]

    def of(self, group: Hashable) -> list[R]:
        """Return the records of a group, oldest first."""
        return [self._records[number] for number in sorted(self._groups.get(group, ()))]

    def put(self, record: R) -> R:
        """Write a new record, or a new state of one; only inside `Store.change`."""
        row = self._kind.__name__, record.id, json.encode(record)
        self._store.write("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", row)
        self._replace(self._records.get(record.id), record)
        return record

    def add(self, record: R) -> R:
        """Write a new record under an id that none ever had."""
        with self._store.change():
            return self.put(replace(record, id=self._store.next_id()))

    def change(self, record: R, **changes: object) -> R:
        """Write a new state of a record, from the newest one that is known."""
        with self._store.change():
            return self.put(replace(self.get(record.id) or record, **changes))

    def remove(self, record: R) -> None:
        """Forget a record; only inside `Store.change`."""
        query = "DELETE FROM records WHERE kind = ? AND id = ?"
        self._store.write(query, (self._kind.__name__, record.id))
        self._replace(self._records.get(record.id), None)

    def _replace(self, before: R | None, after: R | None) -> None:
        if before is not None:
            group = self._group(before)
            del self._records[before.id], self._groups[group][before.id]
            if not self._groups[group]:
                del self._groups[group]
        if after is not None:
            self._records[after.id] = after
            self._groups.setdefault(self._group(after), {})[after.id] = None


class Store:
    """All tables, over one SQLite file.

    Comments, events and reactions are grouped by their subject, checks by repository
    and commit, most other records by repository.
    """

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None)
        # No fsync per commit: records survive the process's death, but perhaps not the
        # machine's. https://sqlite.org/pragma.html#pragma_synchronous
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS records (kind TEXT, id INTEGER, body BLOB,"
            " PRIMARY KEY (kind, id)) WITHOUT ROWID"
        )
        self.tables: list[Table[Any]] = []
        self._is_changing = False
        self.users = Table(self, records.User, lambda r: r.login.lower())
        self.tokens = Table(self, records.Token, lambda r: r.user)
        self.repositories = Table(
            self, records.Repository, lambda r: r.full_name.lower()
        )
        self.labels = Table(self, records.Label, lambda r: r.repo)
        self.issues = Table(self, records.Issue, lambda r: r.repo)
        self.issue_events = Table(self, records.IssueEvent, lambda r: r.issue)
        self.comments = Table(self, records.Comment, lambda r: r.issue)
        self.reactions = Table(self, records.Reaction, lambda r: r.subject)
        self.pulls = Table(self, records.Pull, lambda r: r.repo)
        self.check_runs = Table(self, records.CheckRun, lambda r: (r.repo, r.head_sha))
        self.runs = Table(self, records.Run, lambda r: r.repo)
        self.artifacts = Table(self, records.Artifact, lambda r: r.run)
        self.hooks = Table(self, records.Hook, lambda r: r.repo)
        self._sequence = Table(self, Sequence, lambda _: _SEQUENCE)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self.db.close()

    @contextmanager
    def change(self) -> Iterator[None]:
        """Make all writes inside one change; a nested block joins the outer one.

        An error that leaves the outermost block undoes everything, in memory too.
        """
        if self._is_changing:
            yield
            return
        self._is_changing = True
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            for table in self.tables:
                table.load()
            raise
        else:
            self.db.execute("COMMIT")
        finally:
            self._is_changing = False

    def next_id(self) -> int:
        """Give an id that no record ever had; only inside `change`."""
        given = self._sequence.get(_SEQUENCE) or Sequence(id=_SEQUENCE, last=0)
        return self._sequence.put(Sequence(id=_SEQUENCE, last=given.last + 1)).last

    def write(self, query: str, values: tuple[object, ...]) -> None:
        if not self._is_changing:
            raise RuntimeError("records are written inside `with store.change()` only")
        self.db.execute(query, values)
