"""Whether an attempt may start: what it needs, what is held, and money. Pure."""

from collections.abc import Iterable, Iterator

from convoy.kinds.relations import awaited
from convoy.model.state import Convoy, Lease, State, Task
from convoy.readiness.budget_left import overspent
from convoy.readiness.stuck_tasks import unmet
from grite.resource import overlaps


def resources(task: Task) -> tuple[str, ...]:
    """Return what the task's session must hold: its paths and needs."""
    return (*(f"path:{path}" for path in task.spec.paths), *task.spec.needs)


def conflicting_leases(state: State, task: Task, now: int) -> tuple[Lease, ...]:
    """Return the leases, valid at `now`, on what the task's session must hold."""
    return blocking(valid_leases(state, now), task)


def valid_leases(state: State, now: int) -> tuple[Lease, ...]:
    """Return the leases that have not run out at `now`."""
    return tuple(lease for lease in state.leases.values() if lease.expires > now)


def blocking(leases: Iterable[Lease], task: Task) -> tuple[Lease, ...]:
    """Return those of the leases that are on what the task's session must hold."""
    wanted = resources(task)
    return tuple(
        lease
        for lease in leases
        if any(overlaps(lease.resource, resource) for resource in wanted)
    )


def must_wait(state: State, convoy: Convoy, task: Task, now: int) -> bool:
    """Whether somebody's lease keeps the task from starting."""
    if convoy.settings.locks != "require":
        return False
    return bool(conflicting_leases(state, task, now))


def kept_by_leases(
    state: State, now: int
) -> Iterator[tuple[Convoy, Task, tuple[Lease, ...]]]:
    """Yield each task that only leases keep from starting; a lease ends by itself."""
    for convoy in state.live():
        for task in convoy.tasks:
            if startable(convoy, task) and must_wait(state, convoy, task, now):
                yield convoy, task, conflicting_leases(state, task, now)


def resting(state: State, now: int) -> Iterator[str]:
    """Yield the engine of each task that waits for its model's vendor."""
    return (
        task.spec.engine
        for convoy in state.live()
        for task in convoy.tasks
        if task.state == "queued" and task.cause == "outage" and task.not_before > now
    )


def startable(convoy: Convoy, task: Task) -> bool:
    """Whether a session may work on the task: it is ready, and money is left."""
    return ready(convoy, task) and not overspent(convoy, task)


def ready(convoy: Convoy, task: Task) -> bool:
    """Whether the task is queued, its convoy active and all it needs merged.

    A session of an earlier attempt has to end first. Task 0 is the plan: its convoy has
    none yet.
    """
    return (
        convoy.state == ("active" if task.number else "planning")
        and not convoy.kept_by
        and not task.waits_aside
        and task.taken_out is None
        and task.state == "queued"
        and task.attempt is None
        and not awaited(convoy, task)
        and not unmet(convoy, task)
    )
