"""What is set aside, and whether an item may be tried now. Pure."""

from collections.abc import Iterator

from convoy.model.intent import Intent
from convoy.model.set_aside import (
    TASK,
    SetAside,
    action_item,
    convoy_item,
    part_of,
    show_item,
    task_item,
)
from convoy.model.state import State


def set_aside(state: State, item: str) -> SetAside | None:
    """Return why an item is set aside; None: it never was, or works again."""
    part = part_of(item)
    if part is None:
        return state.set_aside.get(item)
    convoy = state.convoys.get(part[0])
    where = convoy.task(part[1]) if convoy and part[1] else convoy
    return where.set_aside if where else None


def may_try(state: State, item: str, now: int) -> bool:
    """Whether nothing keeps an item back at `now` (unix ms)."""
    aside = set_aside(state, item)
    return aside is None or aside.again or aside.due <= now


def intent_item(intent: Intent) -> str:
    """Return the item that an announced action belongs to.

    A task whose session or pull request is refused waits as a whole.
    """
    if intent.kind in ("dispatch", "pull"):
        return task_item(intent.convoy, intent.task)
    return action_item(intent.key)


def asides(state: State) -> Iterator[tuple[str, SetAside]]:
    """Yield every item that waits aside, with the reason: convoys first."""
    for convoy in state.live():
        if convoy.set_aside is not None and not convoy.set_aside.again:
            yield convoy_item(convoy.name), convoy.set_aside
        for task in convoy.tasks:
            if task.set_aside is not None and task.waits_aside:
                yield task_item(convoy.name, task.number), task.set_aside
    for item, aside in state.set_aside.items():
        if not aside.again:
            yield item, aside


def asides_of(state: State, convoy: str) -> Iterator[tuple[str, SetAside]]:
    """Yield what waits aside of one convoy, also of one that has ended."""
    for item, aside in asides(state):
        if convoy_of_item(state, item) == convoy:
            yield item, aside


def shown_asides(
    state: State, convoy: str, works: frozenset[str] = frozenset()
) -> tuple[SetAside, ...]:
    """Return what a convoy's comment tells of beside the rows of its tasks.

    Args:
        state: the state.
        convoy: its name.
        works: the items that were tried just now and work again.
    """
    untold = {show_item(convoy, "comment"), *works}
    return tuple(
        aside
        for item, aside in asides_of(state, convoy)
        if item not in untold and not item.startswith(TASK)
    )


def convoy_of_item(state: State, item: str) -> str:
    """Return the name of the convoy that an item belongs to; empty: none."""
    part = part_of(item)
    if part is not None:
        return part[0]
    words = item.split("/")
    if words[0] in ("show", "look", "part") and words[1] in state.convoys:
        return words[1]
    for intent in state.intents.values():
        if item == action_item(intent.key):
            return intent.convoy or _of_issue(state, intent.issue)
    return ""


def _of_issue(state: State, issue: int) -> str:
    """Return the newest convoy of an issue; empty: it has none."""
    names = [n for n, known in state.convoys.summaries() if known.issue == issue]
    return names[-1] if names else ""
