"""Why a convoy stands where it stands. Pure."""

from collections.abc import Iterable, Iterator

from convoy.model.state import Convoy, Lease
from convoy.readiness.landing import waiting_to_merge
from convoy.views.landing_words import about_parts
from convoy.views.plan_document import approval
from convoy.views.reasons import plan_waits, waits_for


def convoy_reasons(convoy: Convoy, leases: Iterable[Lease] = ()) -> tuple[str, ...]:
    """Return what is so, then what keeps it: a line for each task that is not done.

    Args:
        convoy: the convoy.
        leases: those that have not run out.
    """
    return tuple(_reasons(convoy, tuple(leases)))


def _reasons(convoy: Convoy, leases: tuple[Lease, ...]) -> Iterator[str]:
    merged = sum(task.state == "merged" for task in convoy.tasks)
    yield f"it is {convoy.state}, {merged} of {len(convoy.tasks)} tasks merged"
    yield from filter(None, (convoy.why, about_parts(convoy), approval(convoy)))
    if waits := plan_waits(convoy):
        yield f"its plan waits: {waits}"
    if convoy.held:
        yield f"it is held by the label {convoy.held}"
    if convoy.landed:
        yield f"it landed as {convoy.landed[:10]}"
    if not convoy.ended:
        yield from _landing(convoy)
        yield from _tasks(convoy, leases)


def _landing(convoy: Convoy) -> Iterator[str]:
    if convoy.sync.stalled:
        yield f"its landing waits for a person: {convoy.sync.stalled}"
    if convoy.landing_waits:
        yield f"it waits for {convoy.landing_waits}"
    if queue := ", ".join(str(task.number) for task in waiting_to_merge(convoy)):
        yield f"in the merge queue, in this order: task {queue}"


def _tasks(convoy: Convoy, leases: tuple[Lease, ...]) -> Iterator[str]:
    for task in convoy.tasks:
        if not task.settled:
            waits = waits_for(convoy, task, leases) or "nothing: it is about to go on"
            yield f"task {task.number}, {task.state}, waits for {waits}"
