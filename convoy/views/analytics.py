"""What became of changes: how many, how long, how often, at what cost. Pure.

Everything is counted from `ChangeHistory`, so it is as exact as the log.
"""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf
from statistics import median, quantiles
from typing import Final

from msgspec import Struct

from convoy.events.session_events import DAY_MS
from convoy.model.records import Usage
from convoy.model.session_result import dollars
from convoy.text import counted, iso
from convoy.views.history import Change, ChangeHistory

STAGES: Final = ("waiting", "working", "landing")
"""From the plan to the first session, to accepted work, to the landing."""


_NAMES: Final = ("1 min", "5 min", "15 min", "30 min", "1 h", "4 h", "1 d", "more")
_LIMITS_S: Final = (60, 300, 900, 1800, 3600, 14_400, 86_400, inf)
BUCKETS_S: Final = dict(zip(_NAMES, _LIMITS_S, strict=True))


class TimeSpread(Struct, frozen=True):
    """How long something took, in seconds."""

    count: int
    median: float
    most: float
    """Nine of ten took at most this."""
    buckets: tuple[int, ...]
    """How many took at most each of `BUCKETS_S`, and longer than the one before."""


class EngineShare(Struct, frozen=True, kw_only=True):
    engine: str
    kind: str
    changes: int
    first_try: int
    """How many of them needed one session only."""
    sessions: int
    ci_runs: int
    ci_s: float
    usd: float

    @property
    def percent(self) -> int:
        """The percentage of changes that needed one session only."""
        return round(100 * self.first_try / self.changes)


class Analytics(Struct, frozen=True, kw_only=True):
    changes: int
    """How many landed."""
    dropped: int
    sessions: int
    """Of those that landed, as are the next two."""
    ci_runs: int
    usd: float
    per_day: tuple[tuple[str, int], ...]
    """Landed changes by day (UTC), each day from the first to the last."""
    stages: dict[str, TimeSpread]
    engines: tuple[EngineShare, ...]
    rework: tuple[tuple[str, int], ...]
    """Why changes went back to the queue, the most frequent first."""
    reds: tuple[tuple[str, int], ...]
    """How often a check that was red had work judged again."""
    asked: dict[str, TimeSpread]
    """How long people took to answer, by what they were asked."""


def analytics(history: ChangeHistory) -> Analytics:
    ended = [one for one in history.changes.values() if one.end]
    landed = [one for one in ended if one.end == "landed"]
    used = sum((one.usage for one in landed), Usage())
    rows = [stages_ms(one) for one in landed]
    times = zip(*rows, strict=True)
    stages = {name: _spread(each) for name, each in zip(STAGES, times, strict=False)}
    counts = Counter(one.ended // DAY_MS for one in landed)
    days = range(min(counts), max(counts) + 1) if counts else ()
    engines: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in landed:
        engines[change.engine, change.kind].append(change)
    return Analytics(
        changes=len(landed),
        dropped=sum(one.end == "dropped" for one in ended),
        sessions=sum(one.sessions for one in landed),
        ci_runs=sum(one.ci_runs for one in landed),
        usd=used.usd,
        per_day=tuple((iso(day * DAY_MS)[:10], counts[day]) for day in days),
        stages=stages,
        engines=tuple(
            EngineShare(
                engine=engine,
                kind=kind,
                changes=len(some),
                first_try=sum(one.sessions == 1 for one in some),
                sessions=sum(one.sessions for one in some),
                ci_runs=sum(one.ci_runs for one in some),
                ci_s=sum(one.ci_ms for one in some) / 1000,
                usd=sum((one.usage for one in some), Usage()).usd,
            )
            for (engine, kind), some in sorted(engines.items())
        ),
        rework=_ranked(Counter(cause for one in ended for cause in one.rework)),
        reds=_ranked(history.reds),
        asked={what: _spread(each) for what, each in sorted(history.asked.items())},
    )


def stages_ms(one: Change) -> tuple[int, int, int]:
    """Return how long each stage of a landed change took, in milliseconds."""
    times = [one.planned or one.started, one.started, one.accepted, one.ended]
    for place in range(1, len(times)):  # what is not known took no time
        times[place] = max(times[place], times[place - 1])
    waiting, working, landing = (after - before for before, after in pairwise(times))
    return waiting, working, landing


def _spread(times_ms: Sequence[int]) -> TimeSpread:
    seconds = sorted(each / 1000 for each in times_ms)
    tenths = quantiles(seconds, n=10, method="inclusive") if len(seconds) > 1 else ()
    most = tenths[-1] if tenths else seconds[0]
    places = [0, *(bisect(seconds, limit) for limit in BUCKETS_S.values())]
    return TimeSpread(
        count=len(seconds),
        median=round(median(seconds), 1),
        most=round(most, 1),
        buckets=tuple(after - before for before, after in pairwise(places)),
    )


def _ranked(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


class EngineCost(Struct, frozen=True, kw_only=True):
    """What one engine's sessions used that ended in a span of time."""

    engine: str
    sessions: int
    tokens: int
    usd: float


def engine_costs(history: ChangeHistory, since: int) -> tuple[EngineCost, ...]:
    """Return what each engine used since a time (unix ms), the dearest first.

    Every session counts, also one whose work did not land.
    """
    groups: dict[str, list[Usage]] = defaultdict(list)
    for one in history.spent:
        if one.at >= since:
            groups[one.engine].append(one.usage)
    costs = (
        EngineCost(engine=name, sessions=len(some), tokens=used.tokens, usd=used.usd)
        for name, some in groups.items()
        for used in [sum(some, Usage())]
    )
    return tuple(sorted(costs, key=lambda one: (-one.usd, -one.tokens, one.engine)))


def analytics_summary(found: Analytics) -> str:
    if not found.changes:
        return "no change has landed"
    days = len(found.per_day)
    sessions = found.sessions / found.changes
    runs = found.ci_runs / found.changes
    each = found.usd / found.changes
    cost = f", {dollars(each)} each" if found.usd else ""
    return (
        f"{counted(found.changes, 'change')} landed in {counted(days, 'day')}, with "
        f"{sessions:.2f} sessions and {runs:.2f} CI runs each{cost}; "
        f"{found.dropped} dropped"
    )
