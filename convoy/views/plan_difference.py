"""What changed of a plan since people saw it as a whole. Pure."""

from collections.abc import Iterable, Iterator

from convoy.model.records import Outline, outlined
from convoy.model.state import Convoy


def difference(before: Iterable[Outline], after: Iterable[Outline]) -> tuple[str, ...]:
    """Return the changes from one plan to another, a clause each, by task number."""
    return tuple(_changes([*before], [*after]))


def changed_since(convoy: Convoy) -> tuple[str, ...]:
    """Return what changed of a plan since it was made, or last approved."""
    return difference(convoy.outline, current(convoy)) if convoy.tasks else ()


def current(convoy: Convoy) -> tuple[Outline, ...]:
    """Return a convoy's plan as it is now, without what was dropped."""
    return outlined(task.spec for task in convoy.tasks if task.state != "dropped")


def _changes(before: list[Outline], after: list[Outline]) -> Iterator[str]:
    old = {each.number: each for each in before}
    new = {each.number: each for each in after}
    for number in sorted({*old, *new}):
        was, now = old.get(number), new.get(number)
        if was is None and now is not None:
            waits = f" (after {_numbers(now.after)})" if now.after else ""
            yield f"+ task {number}: {now.title}{waits}"
        elif now is None and was is not None:
            yield f"- task {number}: {was.title}"
        elif was and now and was != now:
            yield f"~ task {number}: {'; '.join(_parts(was, now))}"


def _parts(was: Outline, now: Outline) -> Iterator[str]:
    if was.title != now.title:
        yield f"is now: {now.title}"
    if was.after != now.after:
        yield f"after {_numbers(was.after)} -> {_numbers(now.after)}"
    if was.engine != now.engine:
        yield f"engine {was.engine} -> {now.engine}"
    if was.paths != now.paths:
        gone = [f"- {path}" for path in was.paths if path not in now.paths]
        come = [f"+ {path}" for path in now.paths if path not in was.paths]
        yield f"paths {', '.join((*gone, *come)) or 'in another order'}"
    if was.acceptance != now.acceptance:
        yield f"done when {now.acceptance or 'CI says so'}"


def _numbers(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers)) or "none"
