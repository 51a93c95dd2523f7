"""What of a convoy's branch its target does not hold yet. Pure."""

from convoy.model import ids
from convoy.model.state import Convoy, Task


def head_branch(convoy: Convoy) -> str:
    """Return the branch that the convoy's own pull request is of."""
    return convoy.parts.branch or ids.base_branch(convoy.name)


def unlanded(convoy: Convoy) -> tuple[Task, ...]:
    """Return the tasks whose work is on the convoy's branch and not on its target."""
    there = convoy.parts.tasks
    return tuple(t for t in convoy.tasks if t.landed and t.number not in there)


def wants_part(convoy: Convoy) -> bool:
    """Whether what is finished is to land on the target before the rest is."""
    if convoy.settled or convoy.withdrawn or convoy.taken_out is not None:
        return False
    is_asked = convoy.settings.land == "parts" or bool(convoy.parts.asked_by)
    return is_asked and bool(unlanded(convoy))
