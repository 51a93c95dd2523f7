"""CI's verdict on a candidate, and what is due where it is against it. Pure."""

from collections.abc import Iterator
from typing import Final, Literal

from convoy.model.state import Convoy
from convoy.model.work import LOST_MOST, Candidate
from convoy.owed import Action, Block, LookAgain, Patience, Reject, Stall
from convoy.rules.verdict import Checks
from convoy.text import clock

NEVER_STARTED: Final = "CI: it never started on the candidate"
NO_CI: Final = (
    "no check has reported on the candidate, and no commit status: set [ci] command "
    "(local) or let CI run on pushes to brat/queue/**, or set [refinery] require_ci = "
    "false"
)

CiFinding = Literal["waiting", "silent", "red", "lost", "green", "broken"]
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
) -> CiFinding:
    """Return CI's verdict on a candidate that was built at `candidate.at`."""
    if not convoy.settings.require_ci:
        return "green"
    if checks is None:
        return "waiting"
    is_late = now > _began(candidate, checks) + patience.check_start_s * 1000
    if checks.verdict == "pending":  # with a text: on nothing but a required name
        return "broken" if checks.text and is_late else "waiting"
    if checks.verdict != "none":
        return checks.verdict
    return "silent" if is_late else "waiting"


def _began(candidate: Candidate, checks: Checks) -> int:
    """Return since when nothing but a check that does not come is waited for."""
    return max(candidate.at, checks.since if checks.verdict == "pending" else 0)


def verdict_actions(
    convoy: Convoy,
    task: int,
    candidate: Candidate,
    checks: Checks | None,
    patience: Patience,
    now: int,
) -> Iterator[Action]:
    """Act on CI's verdict against a candidate; task 0 is the convoy itself."""
    found = finding(convoy, candidate, checks, patience, now)
    about = convoy.task(task)
    doubted = about.doubted if about else None
    lost = convoy.sync.lost if about is None else doubted.lost if doubted else 0
    # Where CI never reported, its setup is at fault, which only a person can mend.
    has_spoken = any(each.landed or each.doubt for each in convoy.tasks)
    if found == "red" and checks is not None:
        yield Reject(convoy.name, task, candidate.commit, checks.text)
    elif found == "lost" and checks is not None and not task:
        said, which = checks.text, checks.failed
        yield LookAgain(convoy.name, 0, candidate.commit, said, which, is_red=False)
    elif found in ("lost", "broken") and checks is not None:
        awaited = f" (waited for since {clock(_began(candidate, checks))})"
        said = checks.text + (awaited if checks.verdict == "pending" else "")
        yield Stall(convoy.name, task, candidate.commit, said)
    elif found == "silent" and has_spoken and lost + 1 < LOST_MOST:
        again = NEVER_STARTED, ()
        yield LookAgain(convoy.name, task, candidate.commit, *again, is_red=False)
    elif found == "silent":
        yield Block(convoy.name, task, (checks and checks.text) or NO_CI)
