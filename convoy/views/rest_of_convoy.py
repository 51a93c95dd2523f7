"""What is left of a convoy, played through again and again. Pure.

Each time each session and each landing takes as long as one that is known, and work is
done again as often as it was. They are drawn evenly instead of by chance, so that the
same state always leads to the same. Work lands one after another: each takes what it
was in front of the queue for, whether CI judges one at a time or many at once. What
waits for a person is left out.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Final

from msgspec import Struct

from convoy.model.state import Convoy, Task
from convoy.readiness.turns import turns
from convoy.views.session_history import Past

GAMES: Final = 40
"""How often the rest is played."""
STEPS: Final = 4000
"""How many tasks are played in all at most; a page waits for it."""
LEAST: Final = 2
"""So many landings say how fast work lands; fewer say nothing."""
LATELY: Final = 5
"""The newest sessions, at least so many and half of all, say how often work is redone.
"""
_STRIDE: Final = 0.6180339887498949
"""The golden ratio's fraction: its multiples fill a span evenly.

https://en.wikipedia.org/wiki/Low-discrepancy_sequence
"""
_DOUBTED: Final = (0.2, 2.0)
"""What was done again, and what was done, before anything is known."""


class Known(Struct, frozen=True, kw_only=True):
    """What sessions and landings have taken, in seconds, sorted."""

    work: tuple[float, ...]
    land: tuple[float, ...]
    """How long each was in front of the queue until it landed."""
    again: float
    """How large a part of the sessions led to another one."""
    front_since: int
    """When what is in front of the queue now came there at the earliest, unix ms."""


class _Draw:
    """Numbers below 1 that lie evenly, the same ones each time."""

    def __init__(self) -> None:
        self._count = 0

    def part(self) -> float:
        self._count += 1
        return (self._count * _STRIDE) % 1

    def of(self, values: Sequence[float], passed: float = 0.0) -> float:
        """Return what is left of one of the values, of which this much has passed."""
        first = bisect_right(values, passed) if passed else 0
        if first == len(values):  # longer than any before: it may go on as long again
            return self.part() * passed
        place = first + int(self.part() * (len(values) - first))
        return values[place] - passed


def known(sessions: Sequence[Past]) -> Known | None:
    """Return what a convoy's sessions have taken; None: too little is known yet."""
    done = [one for one in sessions if one.ended and one.task]
    landed = sorted((one.landed, one.ended) for one in done if one.landed)
    if len(landed) < LEAST:
        return None
    before = [0, *(at for at, _ in landed)]
    land = (
        (at - max(ended, last)) / 1000
        for (at, ended), last in zip(landed, before, strict=False)
    )
    lately = done[-max(LATELY, len(done) // 2) :]  # what overlaps is found early
    again = sum(one.how in ("sent back", "refused", "lost") for one in lately)
    return Known(
        work=tuple(sorted(one.took_s for one in done)),
        land=tuple(sorted(land)),
        again=(again + _DOUBTED[0]) / (len(lately) + _DOUBTED[1]),
        front_since=before[-1],
    )


def played(
    convoy: Convoy, sessions: Sequence[Past], past: Known, now: int
) -> tuple[float, ...]:
    """Return how long the rest took each time, in seconds, sorted.

    Args:
        convoy: as it is now; at least one task is not settled.
        sessions: all that it has had.
        past: what they have taken.
        now: unix ms.
    """
    rest = _Rest(convoy, sessions, past, now)
    games = max(1, min(GAMES, STEPS // max(1, len(rest.tasks))))
    draw = _Draw()
    return tuple(sorted(_Game(rest, draw).played() for _ in range(games)))


class _Rest:
    """What is left, as each game begins with it."""

    def __init__(
        self, convoy: Convoy, sessions: Sequence[Past], past: Known, now: int
    ) -> None:
        self.tasks = {
            task.number: task
            for task in convoy.tasks
            if not task.settled and task.state != "blocked"
        }
        self.past, self.now = past, now
        self.slots = _slots(convoy)
        handed = {one.task: one.ended for one in sessions if one.ended}
        reviewed = (n for n, t in self.tasks.items() if t.state == "needs-review")
        self.queue = sorted(reviewed, key=lambda n: handed.get(n, now))
        came = handed.get(self.queue[0], now) if self.queue else now
        self.front = max(past.front_since, came)
        self.landed_first: dict[int, list[int]] = defaultdict(list)
        """Who waits for each task to land; `worked_first`: for its work."""
        self.worked_first: dict[int, list[int]] = defaultdict(list)
        self.waits = dict.fromkeys(self.tasks, 0)
        for number, task in self.tasks.items():
            if task.state == "needs-review" or task.attempt is not None:
                continue
            for other in {*task.spec.after} & self.tasks.keys():
                self.landed_first[other].append(number)
                self.waits[number] += 1
            for other in {*_behind(convoy, task)} & self.tasks.keys():
                if self.tasks[other].state != "needs-review":
                    self.worked_first[other].append(number)
                    self.waits[number] += 1


class _Game:
    """The rest of a convoy, played once."""

    def __init__(self, rest: _Rest, draw: _Draw) -> None:
        self._rest, self._draw, self._past = rest, draw, rest.past
        self._waits = dict(rest.waits)
        self._free = rest.slots
        self._ends: list[tuple[float, int, bool]] = []
        """When which task's session ends, or else its landing."""
        self._ready: list[int] = []
        self._worked: set[int] = set()
        self._last = 0.0
        """When what was last in the queue lands."""

    def played(self) -> float:
        """Return how long it takes, in seconds."""
        self._begin()
        now = 0.0
        while self._ends:
            now, number, is_landing = heappop(self._ends)
            if is_landing:
                self._let_go(self._rest.landed_first[number])
            else:
                self._free += 1
                if number not in self._worked:
                    self._worked.add(number)
                    self._let_go(self._rest.worked_first[number])
                self._hand_in(number, now)
            self._start(now)
        # All of it is judged by then, so its own landing takes less than any other.
        shortest = next((each for each in self._past.land if each), 0.0)
        return now + self._draw.part() * shortest

    def _begin(self) -> None:
        rest, draw, past = self._rest, self._draw, self._past
        for place, number in enumerate(rest.queue):
            passed = 0.0 if place else max(0.0, (rest.now - rest.front) / 1000)
            self._last += draw.of(past.land, passed)
            heappush(self._ends, (self._last, number, True))
        for number, task in rest.tasks.items():
            if task.state == "needs-review":
                continue
            if task.attempt is not None:
                passed = max(0.0, (rest.now - task.attempt.at) / 1000)
                heappush(self._ends, (draw.of(past.work, passed), number, False))
                self._free -= 1
            elif not self._waits[number]:
                heappush(self._ready, number)
        self._start(0.0)

    def _hand_in(self, number: int, now: float) -> None:
        """Let work wait to land, or be done again once it was looked at."""
        if self._draw.part() < self._past.again:
            heappush(self._ready, number)
            return
        self._last = max(now, self._last) + self._draw.of(self._past.land)
        heappush(self._ends, (self._last, number, True))

    def _let_go(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._waits[number] -= 1
            if not self._waits[number]:
                heappush(self._ready, number)

    def _start(self, now: float) -> None:
        while self._ready and self._free > 0:
            number = heappop(self._ready)
            self._free -= 1
            end = now + self._draw.of(self._past.work)
            heappush(self._ends, (end, number, False))


def _slots(convoy: Convoy) -> int:
    engines = {task.spec.engine for task in convoy.tasks}
    slots = (
        each.max_sessions
        for name, each in convoy.settings.engines.items()
        if name in engines
    )
    return max(1, min(convoy.settings.max_sessions, sum(slots)))


def _behind(convoy: Convoy, task: Task) -> Iterator[int]:
    """Yield whom it lets go first only for the files that both touch.

    It may start from the other's candidate, before that has landed.
    """
    waits = turns(convoy).get(task.number, ())
    return (turn.on for turn in waits if turn.on not in task.spec.after)
