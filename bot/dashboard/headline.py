"""The first page's first line: is it going well, and what waits. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from convoy.model.state import Convoy
from convoy.text import counted
from convoy.views.interventions import Intervention, needs_a_person

STATES: Final = ("merged", "needs-review", "running", "queued", "blocked", "dropped")


class Part(Struct, frozen=True):
    """How many tasks of a convoy are in one state; x and width in percent."""

    state: str
    count: int
    x: float
    width: float


def headline(
    live: Sequence[Convoy], waits: Iterable[Intervention], trouble: str
) -> str:
    """Return in one sentence whether it is going well."""
    found = tuple(waits)
    if trouble:
        return "The log cannot be read"
    if needs_a_person(found):
        things = counted(len(found), "thing")
        return f"{things} {'waits' if len(found) == 1 else 'wait'} for you"
    return "All goes on by itself" if live else "Nothing is under way"


def parts(convoy: Convoy) -> tuple[Part, ...]:
    """Return a convoy's tasks by state, side by side; only states that some have."""
    counts: Counter[str] = Counter(task.state for task in convoy.tasks)
    scale = 100 / max(1, len(convoy.tasks))
    found: list[Part] = []
    x = 0.0
    for state in STATES:
        if count := counts[state]:
            found.append(Part(state, count, round(x, 2), round(count * scale, 2)))
            x += count * scale
    return tuple(found)
