"""Why one task waits for another, and what a convoy's own pull request waits for.

Pure: sentences from the state. Their parts may come from strangers; who shows them
makes them harmless where it shows them.
"""

from collections.abc import Iterator

from convoy.model.state import Convoy, Task
from convoy.views.plan_order import because
from convoy.views.reasons import waits_for


def edge_reasons(convoy: Convoy, first: Task, then: Task) -> tuple[str, ...]:
    """Return why `then` waits for `first`, in order: what is so, then where it stands.

    Args:
        convoy: of both.
        first: the task that is waited for.
        then: the one that waits, or may be thought to.
    """
    return tuple(_edge(convoy, first, then))


def _edge(convoy: Convoy, first: Task, then: Task) -> Iterator[str]:
    one, two = f"task {first.number}", f"task {then.number}"
    if first.number not in then.spec.after:
        others = ", ".join(map(str, then.spec.after)) or "no task"
        yield f"{two} does not wait for {one}; it waits for: {others}"
        if then.number in first.spec.after:
            yield f"it is the other way round: {one} waits for {two}"
        return
    why = because(then.spec, first.number)
    yield f"{two} starts when {one} is merged: {why}"
    if then.spec.why:
        yield f"of {two} the plan says: {then.spec.why}"
    if first.settled:
        yield f"{one} is {first.state}"
    else:
        yield f"{one} is {first.state} and waits for {waits_for(convoy, first)}"
    yield f"{two} is {then.state}"


def pull_reasons(convoy: Convoy) -> tuple[str, ...]:
    """Return what a convoy's own pull request waits for, in order."""
    return tuple(_pull(convoy))


def _pull(convoy: Convoy) -> Iterator[str]:
    yield f"it is that of the whole convoy, which is {convoy.state}"
    if convoy.why:
        yield convoy.why
    if convoy.landed:
        yield f"it landed as {convoy.landed}"
        return
    if convoy.kept_by:
        yield f"it waits for {convoy.kept_by}"
    if convoy.withdrawn:
        yield "it was taken out of the merge queue"
    else:
        yield "all its tasks are settled; it waits for the merge queue"
