"""What rules in memory wrote, as a log in a repository: news come when asked for."""

from dataclasses import dataclass, field
from pathlib import Path

import pygit2

from convoy.log import record as states
from convoy.log.record import follow
from grite import checkpoint
from grite.event import CommentAdded, Event
from grite.remote import ensure_mirror
from grite.signatures import Writer
from grite.wal import Log
from tests.world.local_log import appended
from tests.world.rules import ACTOR, Rules, spec

NOW = 1_700_000_000_000


@dataclass
class Kept:
    """A bare repository that holds the log of some rules, as a bot would write it."""

    path: Path
    rules: Rules = field(default_factory=lambda: Rules().planned(spec(1)))
    writer: Writer | None = None
    told: int = field(default=0, init=False)
    """So many of the rules' events are in the log."""

    def __post_init__(self) -> None:
        ensure_mirror(self.path)
        self.log = Log(self.path, self.writer)
        self.tell()

    def tell(self, words: int = 0) -> str:
        """Log, in one commit, what is new in the rules, and words of nobody."""
        events = self.rules.written[self.told :]
        self.told += len(events)
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
        made = checkpoint.write(repo, data, head, at, self.writer)
        ref = checkpoint.ref_of(at)
        repo.references.create(ref, made, force=True)
        return ref
