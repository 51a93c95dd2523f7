"""A convoy's plan as people sign it: the one view that every surface renders. Pure.

The comment, the command line, the dashboard and `--json` show this document; none of
them works anything out by itself. Its texts may come from strangers.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from convoy.gate.protected_needs import forbidden, protected
from convoy.model.records import Forecast, TaskSpec
from convoy.model.state import Convoy, Task
from convoy.planner.own_words import own_words
from convoy.planner.task_size import Size, points, size, size_reason
from convoy.rules.allow_paths import named_paths
from convoy.text.plaintext import shortened
from convoy.views.forecast_words import Range, whole_plan
from convoy.views.plan_coverage import Covered, coverage
from convoy.views.plan_difference import changed_since
from convoy.views.plan_order import because, risky

DOES_CHARS: Final = 400


class PlanWait(Struct, frozen=True, kw_only=True):
    """One task that a task waits for, and why."""

    on: int
    why: str


class PlanCollision(Struct, frozen=True, kw_only=True):
    """Another task that may run at once and touch the same."""

    task: int
    chance: float
    """From 0 to 1, at a guess."""
    files: tuple[str, ...] = ()


class PlanTask(Struct, frozen=True, kw_only=True):
    """One task of a plan, as people judge it."""

    number: int
    title: str
    does: str
    """What is to be done beyond the title; empty: nothing more was written."""
    kind: str
    state: str
    paths: tuple[str, ...]
    """What it changes; empty with `creates`: not declared."""
    creates: tuple[str, ...]
    """What it makes."""
    engine: str
    why: str
    """Why it is a task of its own, and why this engine; empty: nobody said."""
    waits: tuple[PlanWait, ...]
    acceptance: str
    """The command that shows that it is done; empty: none, CI alone judges."""
    size: Size
    points: int
    size_reason: str
    collides: tuple[PlanCollision, ...]
    protected: tuple[str, ...]
    """The protected paths that it declares or names."""
    protected_by: str
    """Who may let it change them, and how; empty: there are none."""
    forecast: Forecast | None
    """What tasks of its engine took; null: nothing is known yet."""


class PlanDocument(Struct, frozen=True, kw_only=True):
    """A whole plan."""

    planner: str
    tasks: tuple[PlanTask, ...]
    """Without those that were dropped."""
    covered: tuple[Covered, ...]
    """What the issue asks for, with who does it."""
    total: Range | None
    """What all of it may take; null: nothing is known yet of some engine."""
    changes: tuple[str, ...]
    """What changed since it was made, or last approved."""
    approval: str
    """Who has to approve it, and how; empty: nobody has to."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """What of the issue no task does, as far as can be seen."""
        return tuple(each.text for each in self.covered if not each.tasks)

    @property
    def protected(self) -> tuple[PlanTask, ...]:
        """The tasks that need protected paths."""
        return tuple(task for task in self.tasks if task.protected)


def plan_document(convoy: Convoy) -> PlanDocument:
    """Return a convoy's plan; before there is one, only what approval it will need."""
    specs = tuple(t.spec for t in convoy.tasks if t.state != "dropped")
    tasks = tuple(_tasks(convoy))
    return PlanDocument(
        planner=convoy.planner,
        tasks=tasks,
        covered=coverage(convoy.text, specs) if specs else (),
        total=whole_plan({t.number: (t.forecast, _on(t)) for t in tasks}),
        changes=changed_since(convoy),
        approval=approval(convoy),
    )


def approval(convoy: Convoy) -> str:
    """Return what approval a plan needs before anything starts, and how it is given."""
    if not convoy.waits_for_approval or convoy.state != "planning":
        return ""
    if convoy.settings.staged:
        return ""  # the preview of the steps says how it goes on
    return (
        "somebody who may write has to approve the plan: `/brat approve` here, or "
        f"`brat convoy approve {convoy.name}`; nothing starts before"
    )


def _tasks(convoy: Convoy) -> Iterator[PlanTask]:
    scopes = {scope.task: scope for scope in convoy.scopes}
    forecasts = {each.engine: each for each in convoy.forecasts}
    for task in convoy.tasks:
        if task.state == "dropped":
            continue
        spec, scope = task.spec, scopes.get(task.number)
        creates = scope.creates if scope else ()
        paths = protected(named_paths(spec), convoy.settings.gate)
        yield PlanTask(
            number=spec.number,
            title=spec.title,
            does=_does(spec),
            kind=spec.kind,
            state=task.state,
            paths=tuple(path for path in spec.paths if path not in creates),
            creates=creates,
            engine=spec.engine,
            why=spec.why,
            waits=tuple(PlanWait(on=n, why=because(spec, n)) for n in spec.after),
            acceptance=spec.acceptance,
            size=size(spec, scope),
            points=points(spec, scope),
            size_reason=size_reason(spec, scope),
            collides=tuple(_collides(convoy, spec.number)),
            protected=paths,
            protected_by=_allowed_by(task, paths),
            forecast=forecasts.get(spec.engine),
        )


def _does(spec: TaskSpec) -> str:
    """Return what a task's instructions add to its title, in one line."""
    told = " ".join(own_words(spec).split())
    rest = told.removeprefix(spec.title.rstrip("…")).strip(" .:;-")
    return shortened(rest, DOES_CHARS)


def _allowed_by(task: Task, paths: tuple[str, ...]) -> str:
    """Return who may let a task change protected paths."""
    if not paths:
        return ""
    if forbidden(paths):
        return "nobody may let an agent change them: a person has to"
    if set(paths) <= set(task.allowed):
        return "allowed"
    return f"somebody who may write has to allow it: /brat allow {task.number}"


def _collides(convoy: Convoy, number: int) -> Iterator[PlanCollision]:
    for each in risky(convoy):
        if number in (each.one, each.other):
            other = each.other if each.one == number else each.one
            yield PlanCollision(task=other, chance=each.chance, files=each.files)


def _on(task: PlanTask) -> tuple[int, ...]:
    return tuple(wait.on for wait in task.waits)
