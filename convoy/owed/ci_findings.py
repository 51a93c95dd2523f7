"""CI's verdict on a candidate, and what is due where it is against it. Pure."""

from collections.abc import Iterator
from typing import Final, Literal

from convoy.model.attempt import Candidate
from convoy.model.state import Convoy
from convoy.owed.actions import Action, Block, LookAgain, Reject, Stall
from convoy.owed.patience import Patience
from convoy.readiness.observed import Checks
from convoy.readiness.second_looks import LOST_MOST

NEVER_STARTED: Final = "CI: it never started on the candidate"
NO_CI: Final = (
    "no check has reported on the candidate, and no commit status: set [ci] command "
    "(local) or let CI run on pushes to brat/queue/**, or set [refinery] require_ci = "
    "false"
)

Finding = Literal["waiting", "silent", "red", "lost", "green", "broken"]
"""CI's verdict on a candidate; silent: no check began on it in time; broken: CI cannot
judge it before a person has acted; lost: it ended without a verdict."""


def is_green(convoy: Convoy, checks: Checks | None) -> bool:
    """Whether a candidate may land, as far as CI is asked."""
    if not convoy.settings.require_ci:
        return True
    return checks is not None and checks.verdict == "green"


def finding(
    convoy: Convoy,
    candidate: Candidate,
    checks: Checks | None,
    patience: Patience,
    now: int,
) -> Finding:
    """Return CI's verdict on a candidate that was built at `candidate.at`."""
    if not convoy.settings.require_ci:
        return "green"
    if checks is None or checks.verdict == "pending":
        return "waiting"
    if checks.verdict != "none":
        return checks.verdict
    is_late = now > candidate.at + patience.check_start_s * 1000
    return "silent" if is_late else "waiting"


def judged(
    convoy: Convoy,
    task: int,
    candidate: Candidate,
    checks: Checks | None,
    patience: Patience,
    now: int,
) -> Iterator[Action]:
    """Act on CI's verdict against a candidate; task 0 is the convoy itself."""
    found = finding(convoy, candidate, checks, patience, now)
    if found == "red" and checks is not None:
        yield Reject(convoy.name, task, candidate.commit, checks.text)
    elif found == "lost" and checks is not None and not task:
        said, which = checks.text, checks.failed
        yield LookAgain(convoy.name, 0, candidate.commit, said, which, is_red=False)
    elif found in ("lost", "broken") and checks is not None:
        yield Stall(convoy.name, task, candidate.commit, checks.text)
    elif found == "silent" and _has_spoken(convoy) and _lost(convoy, task) < LOST_MOST:
        again = NEVER_STARTED, ()
        yield LookAgain(convoy.name, task, candidate.commit, *again, is_red=False)
    elif found == "silent":
        yield Block(convoy.name, task, NO_CI)


def _has_spoken(convoy: Convoy) -> bool:
    """Whether CI is known to report: then it is a fault of its machines if it does not.

    Where it never did, its setup is at fault, which only a person can mend.
    """
    return any(task.landed or task.doubt for task in convoy.tasks)


def _lost(convoy: Convoy, number: int) -> int:
    """Return how often in a row CI gave no verdict, with the one that is due now."""
    task = convoy.task(number)
    if task is None:
        return convoy.sync.lost + 1
    return (task.doubted.lost if task.doubted else 0) + 1
