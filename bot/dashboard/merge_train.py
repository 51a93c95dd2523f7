"""The merge train of a convoy: its candidates in order, and what CI says of each. Pure.

The log holds no verdict before it counts, so what CI was seen to say last comes beside
the log (decision 80).
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from convoy.model.state import Convoy, Task
from convoy.model.work import Candidate
from convoy.rules.landing import suspects, waiting_to_merge
from convoy.rules.verdict import Checks

Mark = Literal["passed", "failed", "under way"]
_WORDS: Final = {
    "none": "CI has not begun",
    "pending": "CI runs",
    "green": "CI is green",
    "red": "CI is red",
    "lost": "CI ended without a verdict",
    "broken": "CI cannot judge",
}


class Check(Struct, frozen=True):
    """One check of a candidate."""

    name: str
    mark: Mark


class Car(Struct, frozen=True, kw_only=True):
    """One place in the train."""

    task: Task
    commit: str
    """The candidate; empty: it has none yet."""
    stands_on: str
    verdict: str
    said: str
    since: int
    """When that was seen first, or the candidate was built, unix ms; 0: unknown."""
    checks: tuple[Check, ...]


def train(convoy: Convoy, seen: Mapping[str, Checks]) -> tuple[Car, ...]:
    """Return the train, its front first; what CI judges alone comes last.

    Args:
        convoy: whose.
        seen: what CI was seen to say last, by commit.
    """
    owners = {
        task.candidate.commit: task.number for task in convoy.tasks if task.candidate
    }
    queue = (*waiting_to_merge(convoy), *suspects(convoy))
    return tuple(_car(convoy, task, owners, seen) for task in queue)


def _car(
    convoy: Convoy, task: Task, owners: Mapping[str, int], seen: Mapping[str, Checks]
) -> Car:
    candidate = task.candidate
    if candidate is None:
        return Car(
            task=task,
            commit="",
            stands_on="",
            verdict="none",
            said="waits for its turn",
            since=task.work.at if task.work else 0,
            checks=(),
        )
    checks = seen.get(candidate.commit)
    verdict = checks.verdict if checks else "unknown"
    return Car(
        task=task,
        commit=candidate.commit,
        stands_on=_ground(convoy, candidate, owners),
        verdict=verdict,
        said=_WORDS.get(verdict, "CI was asked"),
        since=(checks.since if checks else 0) or candidate.at,
        checks=marks(checks) if checks else (),
    )


def _ground(convoy: Convoy, candidate: Candidate, owners: Mapping[str, int]) -> str:
    if under := owners.get(candidate.base):
        return f"task {under}"
    landed = {task.landed: task.number for task in convoy.tasks if task.landed}
    known = landed.get(candidate.base)
    return f"the branch, with task {known}" if known else "the branch"


def marks(checks: Checks) -> tuple[Check, ...]:
    """Return each check that has reported, with what is known of it."""

    def mark(name: str) -> Mark:
        if name in checks.failed:
            return "failed"
        return "passed" if checks.verdict == "green" else "under way"

    return tuple(Check(name, mark(name)) for name in checks.names)
