"""A log to be read, as a bot would have written it."""

from pathlib import Path

import pygit2

from convoy.log import record as states
from convoy.log.record import follow
from grite import checkpoint
from grite.event import CommentAdded, Event
from grite.remote import ensure_mirror
from grite.signatures import Writer
from grite.wal import Log
from tests.grite.commits import said
from tests.world.local_log import appended
from tests.world.rules import ACTOR, Rules, spec

NOW = 1_700_000_000_000


class Telling:
    """A bot's log in a bare repository, told further and further."""

    def __init__(self, path: Path, writer: Writer | None = None) -> None:
        ensure_mirror(path)
        self.path = path
        self.writer = writer
        self.log = Log(path, writer)
        self.rules = Rules().planned(spec(1))
        self._told = 0

    def tell(self, words: int = 0) -> str:
        """Log what is new in the rules, and words of nobody."""
        events = self.rules.written[self._told :]
        self._told = len(self.rules.written)
        events += [
            Event(bytes(16), bytes(16), 7 + k, CommentAdded(f"{k}"))
            for k in range(words)
        ]
        return appended(
            self.log, events, after=self.log.head(), actor=ACTOR, at_ms=self.rules.now
        )

    def mark(self, at: int = NOW) -> str:
        head = str(self.log.head())
        repo = pygit2.Repository(str(self.path))
        data = states.encode_reading(follow(self.log, head))
        ref = checkpoint.ref_of(at)
        made = checkpoint.write(repo, data, head, at, self.writer)
        said(self.path, "update-ref", ref, made)
        return ref
