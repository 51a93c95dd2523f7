"""Why an attempt's work may not land: it is too large, or the gate refuses it."""

from convoy.events.session_events import TaskStarted
from convoy.gate import oversized, passing, refusals
from runner.workspace.attempt_commits import Work


def too_large(work: Work, started: TaskStarted) -> tuple[str, ...]:
    """Return why the work is too large to land or to be kept, a sentence each."""
    if work.oversized:
        return (work.oversized,)
    size = len(work.changes), work.patch_bytes
    return oversized(*size, started.limits, work.largest)


def refused(work: Work, started: TaskStarted) -> tuple[str, ...]:
    """Return why the patch gate would not let the work land, a sentence each."""
    found = (
        *too_large(work, started),
        *refusals(work.changes, 0, started.gate, started.limits),
        *passing(work.between, started.gate),
        *work.leaks,
    )
    return tuple(dict.fromkeys(found))
