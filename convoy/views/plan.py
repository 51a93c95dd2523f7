"""A convoy's plan as people sign it: the one view that every surface renders. Pure.

The comment, the command line, the dashboard and `--json` show this document; none of
them works anything out by itself. Its texts may come from strangers.
"""

from typing import Final

from msgspec import Struct

from convoy.events import copied
from convoy.gate import forbidden, protected
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy
from convoy.planner import own_words
from convoy.rules.plans import named_paths
from convoy.text import shortened

DOES_CHARS: Final = 400


class PlanWait(Struct, frozen=True, kw_only=True):
    on: int
    why: str


class PlanTask(Struct, frozen=True, kw_only=True):
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
    protected: tuple[str, ...]
    """The protected paths that it declares or names."""
    protected_by: str
    """Who may let it change them, and how; empty: there are none."""


class PlanDocument(Struct, frozen=True, kw_only=True):
    planner: str
    tasks: tuple[PlanTask, ...]
    """Without those that were dropped."""
    approval: str
    """Who has to approve it, and how; empty: nobody has to."""

    @property
    def protected(self) -> tuple[PlanTask, ...]:
        return tuple(task for task in self.tasks if task.protected)


def plan_document(convoy: Convoy) -> PlanDocument:
    """Return a convoy's plan; before there is one, only what approval it will need."""
    tasks: list[PlanTask] = []
    made = {scope.task: scope.creates for scope in convoy.scopes}
    for task in convoy.tasks:
        if task.state == "dropped":
            continue
        spec, creates = task.spec, made.get(task.number, ())
        paths = protected(named_paths(spec), convoy.settings.gate)
        # What its instructions add to its title, in one line.
        told = " ".join(own_words(spec).split())
        does = told.removeprefix(spec.title.rstrip("…")).strip(" .:;-")
        by = f"someone with write access must allow them: /brat allow {task.number}"
        if forbidden(paths):
            by = "no agent may change them, so a person must do it"
        elif set(paths) <= set(task.allowed):
            by = "allowed"
        shown = copied(
            PlanTask,
            spec,
            does=shortened(does, DOES_CHARS),
            state=task.state,
            paths=tuple(path for path in spec.paths if path not in creates),
            creates=creates,
            waits=tuple(PlanWait(on=n, why=spec.because(n)) for n in spec.after),
            protected=paths,
            protected_by=by if paths else "",
        )
        tasks.append(shown)
    return PlanDocument(
        planner=convoy.planner,
        tasks=tuple(tasks),
        approval=approval(convoy),
    )


def approval(convoy: Convoy) -> str:
    """Return what approval a plan needs before anything starts, and how it is given."""
    if not convoy.waits_for_approval or convoy.state != "planning":
        return ""
    if convoy.settings.staged:
        return ""  # the preview of the steps says how it goes on
    if convoy.given is not None:
        return (
            f"{convoy.given.author}, who owns the branch, must agree with `/brat "
            "approve` here, or decline with `/brat cancel`; nothing starts until then"
        )
    return (
        "someone with write access must approve the plan with `/brat approve` here or "
        f"`brat approve {convoy.name}`; nothing starts until then"
    )


def edge_words(task: TaskSpec, *, settled: bool = False) -> tuple[str, ...]:
    """Return for each task that this one comes, or came, after why it does."""
    waits = "waited" if settled else "waits"
    return tuple(
        f"it {waits} for task {each}: {task.because(each)}" for each in task.after
    )
