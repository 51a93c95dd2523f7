"""A convoy's plan for a terminal, readable without colour."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from brat.status.status_screen import one_line
from convoy.model.state import Convoy
from convoy.text import counted
from convoy.views.plan import (
    HOW_COMPARED,
    PlanTask,
    forecast_words,
    plan_document,
    range_words,
)

_LEVEL: Final = "  "


def plan_screen(convoy: Convoy) -> Text:
    """Return a convoy's plan whole; empty: there is none yet."""
    return Text("\n".join(map(one_line_kept, _lines(convoy))))


def one_line_kept(line: str) -> str:
    """Return untrusted text as one line that keeps its indentation."""
    bare = line.lstrip(" ")
    return " " * (len(line) - len(bare)) + one_line(bare)


def _lines(convoy: Convoy) -> Iterator[str]:
    found = plan_document(convoy)
    if not found.tasks:
        return
    yield f"plan: {counted(len(found.tasks), 'task')} ({found.planner})"
    for task in found.tasks:
        yield from _task(task)
    yield f"graph: {_graph(found.tasks)}"
    yield f"estimate for all of it: {range_words(found.total)}"
    if found.changes:
        yield "changed since it was made or last approved:"
        yield from (f"{_LEVEL}{each}" for each in found.changes)
    if found.left_out:
        yield f"of the issue in no task ({HOW_COMPARED}):"
        yield from (f"{_LEVEL}- {each}" for each in found.left_out)
    elif found.covered:
        yield f"every statement of the issue is in a task ({HOW_COMPARED})"
    if found.approval:
        yield found.approval.replace("`", "")


def _task(task: PlanTask) -> Iterator[str]:
    yield f"{task.number}. {task.title} [{task.size}: {task.size_reason}]"
    if task.does:
        yield f"{_LEVEL}does: {task.does}"
    yield f"{_LEVEL}changes: {_named(task.paths)}"
    if task.creates:
        yield f"{_LEVEL}makes: {_named(task.creates)}"
    yield f"{_LEVEL}engine: {task.engine}" + (f" ({task.why})" if task.why else "")
    for wait in task.waits:
        yield f"{_LEVEL}waits for task {wait.on}: {wait.why}"
    if task.acceptance:
        yield f"{_LEVEL}done when this passes: {task.acceptance}"
    for each in task.collides:
        where = f", in {_named(each.files)}" if each.files else ""
        yield f"{_LEVEL}may collide with task {each.task}: {each.chance:.0%}{where}"
    if task.protected:
        paths = _named(task.protected)
        yield f"{_LEVEL}needs protected paths: {paths}; {task.protected_by}"
    yield f"{_LEVEL}estimate: {forecast_words(task.forecast)}"


def _graph(tasks: Sequence[PlanTask]) -> str:
    edges = [f"{wait.on} -> {task.number}" for task in tasks for wait in task.waits]
    return ", ".join(edges) or "no task waits for another"


def _named(paths: Sequence[str]) -> str:
    return ", ".join(paths) or "no paths declared"
