"""What rules in memory wrote, as a log in a repository: news come when asked for."""

from dataclasses import dataclass, field
from pathlib import Path

import pygit2

from grite.wal import Log
from tests.world.local_log import appended
from tests.world.rules import ACTOR, Rules


@dataclass
class Kept:
    """A repository that holds the log of some rules."""

    path: Path
    rules: Rules
    told: int = field(default=0, init=False)
    """So many of the rules' events are in the log."""

    def __post_init__(self) -> None:
        pygit2.init_repository(str(self.path), bare=True)
        self.tell()

    def tell(self) -> None:
        """Log, in one commit, what the rules wrote since the last time, if anything."""
        log, news = Log(self.path), self.rules.written[self.told :]
        if not news:
            return
        appended(log, news, after=log.head(), actor=ACTOR, at_ms=news[-1].ts)
        self.told += len(news)
