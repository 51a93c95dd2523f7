"""Whether a convoy's branch has to take its target in now. Pure.

The target is taken in while nothing else of the convoy is being judged: a merge in
front would make CI judge all that waits once more. So tasks never wait for a busy
target, only for a merge that is already being judged; and at most one is tried in
`Patience.sync_s`. Once all tasks are settled nothing waits, and it is done at once.
"""

from convoy.kinds import kind_of
from convoy.model.attempt import Candidate
from convoy.model.state import Convoy, Task
from convoy.readiness.unlanded_work import unlanded, wants_part


def taken_in(convoy: Convoy) -> str:
    """Return the target's commit that the convoy's branch holds."""
    return convoy.sync.target or convoy.base


def syncing(convoy: Convoy) -> Task | None:
    """Return the task, not settled, that takes the target in; None: there is none."""
    found = (t for t in convoy.tasks if kind_of(t.spec).takes_target_in)
    return next((task for task in found if not task.settled), None)


def has_own(convoy: Convoy) -> bool:
    """Whether the convoy's branch holds anything that its target does not."""
    return bool(unlanded(convoy))


def comes_first(convoy: Convoy, target: str) -> bool:
    """Whether the target is taken in before more candidates are built.

    So it is where a person wants what is finished to land now: candidates that CI
    judges are judged to their end, and nothing is put behind them.
    """
    asked = bool(convoy.parts.asked_by) and wants_part(convoy)
    return asked and may_take_in(convoy, target)


def on_tip(convoy: Convoy, tip: str) -> Candidate | None:
    """Return the candidate that takes the target in, if it stands on the tip."""
    candidate = convoy.sync.candidate
    return candidate if candidate is not None and candidate.base == tip else None


def may_take_in(convoy: Convoy, target: str) -> bool:
    """Whether a candidate may be built that takes in this commit of the target.

    Where nothing has landed, a target that is red by itself is left alone until it
    moves on.
    """
    sync = convoy.sync
    if target == taken_in(convoy) or sync.stalled or syncing(convoy) is not None:
        return False
    return sync.left != target or has_own(convoy)


def is_soon(convoy: Convoy, now: int, pause_s: int) -> bool:
    """Whether the target was taken in, or that was tried, less than a pause ago."""
    sync = convoy.sync
    return sync.reds == 0 and sync.at > 0 and now < sync.at + pause_s * 1000
