"""A story told into a log by the rules: what is due happens in its time."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from convoy.events import Command, Refusal
from convoy.model.state import State
from grite.remote import ensure_mirror
from grite.wal import Log
from tests.world.rules import ACTOR, Rules


@dataclass
class TimedStory:
    """The rules, the log that they write, and what is to happen when."""

    path: Path
    rules: Rules = field(default_factory=Rules)
    _due: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)
    _order: int = 0
    _told: int = 0
    head: str | None = None

    def __post_init__(self) -> None:
        ensure_mirror(self.path)
        self.log = Log(self.path)

    @property
    def now(self) -> int:
        """When the story is looked at, unix ms."""
        return self.rules.now + 20_000

    @property
    def state(self) -> State:
        return self.rules.state

    def do(self, at: int, *commands: Command) -> None:
        """Carry commands out at a time, in one commit of the log."""
        for one in commands:
            self.rules.now = max(self.rules.now, at - 1_000)
            said = self.rules.ask(one)
            assert not isinstance(said, Refusal), said
        events = self.rules.written[self._told :]
        self._told = len(self.rules.written)
        self.head = self.log.write(
            events, parent=self.head, actor=ACTOR, at_ms=self.rules.now
        )

    def later(self, at: int, what: Callable[[], None]) -> None:
        """Let something happen at a time (unix ms)."""
        self._order += 1
        heapq.heappush(self._due, (at, self._order, what))

    def run(self, enough: Callable[[], bool]) -> None:
        """Let happen what is due, until it is enough or nothing is left."""
        while self._due and not enough():
            at, _, what = heapq.heappop(self._due)
            self.rules.now = max(self.rules.now, at)
            what()

    def forget(self) -> None:
        """Let nothing of what is due happen."""
        self._due.clear()
