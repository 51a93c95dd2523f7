"""Tasks that are too large are split before anybody tries them."""

from convoy.events.command import Events
from convoy.events.task_queue import TaskBlocked
from convoy.kinds import kind_of
from convoy.model.records import Scope, Settings, TaskSpec
from convoy.planner import size_reason, task_points
from convoy.text import counted


def oversized(
    specs: tuple[TaskSpec, ...], scopes: tuple[Scope, ...], settings: Settings
) -> dict[int, str]:
    """Return why tasks are larger than allowed, by their numbers."""
    if not settings.max_size:
        return {}
    known = {scope.task: scope for scope in scopes}
    found = {}
    for spec in specs:
        scope = known.get(spec.number)
        size = task_points(spec, scope)
        whole = kind_of(spec).is_work and not spec.part_of
        if whole and size > settings.max_size:
            found[spec.number] = (
                f"it has {counted(size, 'point')} of size ({size_reason(spec, scope)}) "
                f"and {settings.max_size} are allowed"
            )
    return found


def to_be_split(convoy: str, found: dict[int, str], settings: Settings) -> Events:
    """Return that the mayor is to split these tasks; nothing if no engine splits."""
    if settings.splitter not in settings.engines:
        return ()
    return tuple(
        TaskBlocked(convoy=convoy, task=number, why=why, splits=True)
        for number, why in found.items()
    )


def told(found: dict[int, str], settings: Settings) -> tuple[str, ...]:
    """Return remarks about tasks that are too large and that nobody splits."""
    if settings.splitter in settings.engines:
        return ()
    return tuple(
        f"task {number} is too large: {why}; /brat split {number} -- does it in parts"
        for number, why in found.items()
    )
