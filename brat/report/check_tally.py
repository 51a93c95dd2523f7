"""How often each of CI's checks judged candidates, was red, and how long it took. Pure.

The log tells when a candidate was built and when CI's verdict on it counted, not when
each check began: so the time is that of all checks of the candidate together.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec import Struct

from convoy.events import Event
from convoy.events.merge_events import (
    MergeAttempted,
    MergeCleared,
    MergeDoubted,
    MergeLanded,
)
from convoy.rules.landing import JUDGED_BY_NONE


class CheckTally(Struct, frozen=True, kw_only=True):
    """What one check did to a convoy."""

    name: str
    green: int = 0
    red: int = 0
    lost: int = 0
    """How often it was cancelled or ran out of time."""
    flakes: int = 0
    """How often it was red and then green on the same files."""
    seconds: float = 0.0
    """The average time from a candidate to the verdict on it."""


class _Verdict(Struct, frozen=True):
    name: str
    how: str
    took_ms: int | None


def check_tallies(
    convoy: str, facts: Iterable[tuple[int, Event]]
) -> tuple[CheckTally, ...]:
    """Return a row for each check that said something, the reddest first.

    Args:
        convoy: its name.
        facts: the bots' events of the whole log with their times (unix ms), in order.
    """
    rows: dict[str, list[_Verdict]] = defaultdict(list)
    for verdict in _verdicts(convoy, facts):
        rows[verdict.name].append(verdict)
    tallies = (_tally(name, said) for name, said in rows.items())
    return tuple(sorted(tallies, key=lambda row: (-row.red, -row.lost, row.name)))


def _verdicts(convoy: str, facts: Iterable[tuple[int, Event]]) -> Iterator[_Verdict]:
    built: dict[str, int] = {}
    for at, fact in facts:
        if getattr(fact, "convoy", "") != convoy:
            continue
        match fact:
            case MergeAttempted(candidate=candidate):
                built.setdefault(candidate, at)
            case MergeLanded(candidate=candidate, judged=names) if (
                names != JUDGED_BY_NONE
            ):
                took = at - built.pop(candidate, at)
                yield from (_Verdict(name, "green", took) for name in names)
            case MergeDoubted(candidate=candidate, checks=names, is_red=is_red):
                took = at - built.pop(candidate, at)
                how = "red" if is_red else "lost"
                yield from (_Verdict(name, how, took) for name in names)
            case MergeCleared(flaky=names):
                yield from (_Verdict(name, "flake", None) for name in names)
            case _:
                pass


def _tally(name: str, said: list[_Verdict]) -> CheckTally:
    times = [one.took_ms for one in said if one.took_ms is not None]
    count = [one.how for one in said].count
    return CheckTally(
        name=name,
        green=count("green"),
        red=count("red"),
        lost=count("lost"),
        flakes=count("flake"),
        seconds=sum(times) / max(1, len(times)) / 1000,
    )
