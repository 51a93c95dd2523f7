"""When a convoy will be done. Pure.

The end is judged by what its own sessions have taken: what is left
is played through again and again. Each time each session and each landing takes as long
as one that is known, and work is done again as often as it was. They are drawn evenly
instead of by chance, so that the same state always leads to the same. Work lands one
after another: each takes what it was in front of the queue for, whether CI judges one
at a time or many at once. That knows nothing of what nobody has seen yet, such as work
that will overlap, so the range is wider than what was played, by as much as such
estimates were wrong (decision 81). People's answers are not foreseen: what waits for
one is left out, and said.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Final

from msgspec import Struct

from convoy.model.state import Convoy
from convoy.rules.turns import turns
from convoy.text import counted
from convoy.views.history import PastSession
from convoy.views.plan import span

SOONER: Final = 0.7
"""What the lower end of what was played is multiplied by."""
LATER: Final = 1.2
"""What its upper end is multiplied by."""


class Finish(Struct, frozen=True, kw_only=True):
    """How long a convoy will go on, in seconds from now."""

    soonest: float
    likely: float
    latest: float
    waits: int
    """How many of its tasks wait for a person, and are not in it."""


def finish(convoy: Convoy, sessions: Sequence[PastSession], now: int) -> Finish | None:
    """Return when a convoy will be done; None: not active, or nothing is known."""
    left = tuple(task for task in convoy.tasks if not task.settled)
    past = known_times(sessions)
    if convoy.state != "active" or not left or past is None:
        return None
    found = rest_played(convoy, sessions, past, now)
    blocked = sum(task.state == "blocked" for task in left)
    return Finish(
        soonest=SOONER * found[len(found) // 10],
        likely=found[len(found) // 2],
        latest=LATER * found[-1 - len(found) // 10],
        waits=blocked,
    )


def finish_words(found: Finish) -> str:
    """Return it in a few words."""
    waits = counted(found.waits, "task")
    after = f", beside {waits} waiting for you" if found.waits else ""
    soonest, latest = span(found.soonest), span(found.latest)
    between = f" ({soonest} to {latest})" if soonest != latest else ""
    return f"about {span(found.likely)} left{between}{after}"


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


class KnownTimes(Struct, frozen=True, kw_only=True):
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


def known_times(sessions: Sequence[PastSession]) -> KnownTimes | None:
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
    return KnownTimes(
        work=tuple(sorted(one.took_s for one in done)),
        land=tuple(sorted(land)),
        again=(again + _DOUBTED[0]) / (len(lately) + _DOUBTED[1]),
        front_since=before[-1],
    )


def rest_played(
    convoy: Convoy, sessions: Sequence[PastSession], past: KnownTimes, now: int
) -> tuple[float, ...]:
    """Return how long the rest took each time, in seconds, sorted.

    At least one of the convoy's tasks is not settled.
    """
    rest = _Rest(convoy, sessions, past, now)
    games = max(1, min(GAMES, STEPS // max(1, len(rest.tasks))))
    draw = _Draw()
    return tuple(sorted(_Game(rest, draw).played() for _ in range(games)))


class _Rest:
    """What is left, as each game begins with it."""

    def __init__(
        self,
        convoy: Convoy,
        sessions: Sequence[PastSession],
        past: KnownTimes,
        now: int,
    ) -> None:
        self.tasks = {
            task.number: task
            for task in convoy.tasks
            if not task.settled and task.state != "blocked"
        }
        self.past, self.now = past, now
        names = {task.spec.engine for task in convoy.tasks}
        known = convoy.settings.engines.items()
        slots = sum(each.max_sessions for name, each in known if name in names)
        self.slots = max(1, min(convoy.settings.max_sessions, slots))
        later = turns(convoy)
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
            # Whom it lets go first only for the files that both touch: it may start
            # from the other's candidate, before that has landed.
            behind = {turn.on for turn in later.get(number, ())} - {*task.spec.after}
            for other in behind & self.tasks.keys():
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
                if self._draw.part() < self._past.again:
                    heappush(self._ready, number)
                else:
                    land_s = self._draw.of(self._past.land)
                    self._last = max(now, self._last) + land_s
                    heappush(self._ends, (self._last, number, True))
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
