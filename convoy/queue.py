"""Who may go next: tasks that can start, and the chain of candidates. Pure.

The chain: each task's candidate stands on the branch's tip or on the candidate ahead
of it. A link whose base or work has changed is broken; it and all behind it are built
again.
"""

from collections.abc import Iterator

from msgspec import Struct

from convoy import ids
from convoy.budget import overspent
from convoy.kinds import awaited, coder, reviews
from convoy.rivals import choice_of, is_unchosen
from convoy.state import Candidate, Convoy, Lease, State, Task
from grite.resource import overlaps

WINDOW = 4
"""Candidates of one convoy that CI judges at a time."""


def resources(task: Task) -> tuple[str, ...]:
    """Return what the task's session must hold: its paths and its needs."""
    return (*(f"path:{path}" for path in task.spec.paths), *task.spec.needs)


def conflicting_leases(state: State, task: Task, now: int) -> tuple[Lease, ...]:
    """Return the leases, alive at `now`, on what the task's session must hold."""
    wanted = resources(task)
    return tuple(
        lease
        for lease in state.leases.values()
        if lease.expires > now
        and any(overlaps(lease.resource, resource) for resource in wanted)
    )


def must_wait(state: State, convoy: Convoy, task: Task, now: int) -> bool:
    """Whether somebody's lease keeps the task from starting."""
    if convoy.settings.locks != "require":
        return False
    return bool(conflicting_leases(state, task, now))


def resting(state: State, now: int) -> Iterator[str]:
    """Give the engine of each task that waits for its model's vendor."""
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

    A session of an earlier attempt has to end first.
    """
    return (
        convoy.state == "active"
        and not convoy.held
        and task.state == "queued"
        and task.attempt is None
        and not awaited(convoy, task)
        and all(
            (needed := convoy.task(number)) is not None and needed.state == "merged"
            for number in task.spec.after
        )
    )


def kept_back(convoy: Convoy, task: Task) -> str:
    """Return what has to be done before the task may merge; empty: nothing."""
    if why := kept_by_people(convoy, task):
        return why
    if task.spec.kind == "tests":
        code = coder(convoy, task)
        number = code.number if code else 0
        tests = f"task {number} to pass its tests"
        return tests if task.is_proven else "CI to find its tests red"
    if is_unchosen(convoy, task):
        choice = choice_of(convoy, task.number)
        chosen = f"task {choice.number if choice else 0} to choose it"
        return chosen if task.is_proven else "CI to judge it among its rivals"
    for review in reviews(convoy, task.number):
        if task.work is None or review.approves != task.work.commit:
            return f"the review by task {review.number}"
    return ""


def kept_by_people(convoy: Convoy, task: Task) -> str:
    """Return what people have to do before the task may merge; empty: nothing."""
    if label := convoy.held or task.held:
        return f"the label {label} to go"
    if task.withdrawn:
        return "a person: it was taken out of the merge queue"
    if (lacking := convoy.settings.approvals - len(task.approved_by)) > 0:
        return f"{lacking} more approval{'s' if lacking > 1 else ''} of its work"
    return ""


def plannable(convoy: Convoy, mayor: Task) -> bool:
    """Whether a session may plan the convoy: none does, and it has no plan."""
    return (
        convoy.state == "planning"
        and not convoy.held
        and mayor.state == "queued"
        and mayor.attempt is None
    )


def waiting_to_merge(convoy: Convoy) -> tuple[Task, ...]:
    """Return the tasks with accepted work that may merge, first accepted first."""
    waiting = (
        task
        for task in convoy.tasks
        if task.state == "needs-review" and not kept_back(convoy, task)
    )
    return tuple(sorted(waiting, key=lambda t: (t.work.at if t.work else 0, t.number)))


class Link(Struct, frozen=True):
    """A task whose candidate stands where it should."""

    task: Task
    candidate: Candidate


class Chain(Struct, frozen=True):
    """The unbroken front of the merge queue, and what must be built behind it."""

    links: tuple[Link, ...]
    onto: str
    """The commit the next candidate stands on."""
    unbuilt: tuple[Task, ...]
    """Tasks to build on `onto`, in order, within the window."""


def chain(convoy: Convoy, tip: str) -> Chain:
    """Return the merge queue of `convoy` over the commit its branch stands at."""
    waiting = waiting_to_merge(convoy)[:WINDOW]
    links: list[Link] = []
    onto = tip
    for task in waiting:
        candidate, work = task.candidate, task.work
        if candidate is None or work is None:
            break
        if candidate.base != onto or candidate.work != work.commit:
            break
        links.append(Link(task, candidate))
        onto = candidate.commit
    return Chain(tuple(links), onto, waiting[len(links) :])


def candidates(convoy: Convoy) -> Iterator[Candidate]:
    """Give every candidate the convoy has open, the convoy's own too."""
    for task in convoy.tasks:
        if task.candidate is not None and not task.settled:
            yield task.candidate
    if convoy.candidate is not None and not convoy.ended:
        yield convoy.candidate


def queue_branches(state: State) -> frozenset[str]:
    """Return the refs that show the open candidates of all convoys to CI."""
    return frozenset(
        f"refs/heads/{ids.queue_branch(lane, candidate.commit)}"
        for convoy in state.live()
        for lane in (ids.base_branch(convoy.name), convoy.target)
        for candidate in candidates(convoy)
    )
