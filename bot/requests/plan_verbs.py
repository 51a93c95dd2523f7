"""The verbs that change a plan: `add`, `depends`, `engine`, `follow`, `allow`.

With them `split`, by which a person writes the parts of a task, and `merge` and
`unqueue`, which move a pull request in the merge queue.
"""

import re
from typing import Final

from msgspec.structs import replace

from bot.requests import verb
from bot.requests.verb import NotPossible, RequestContext, row
from bot.text.visible_text import code_span
from convoy.events.hold_events import MergeRequested, MergeWithdrawn, WorkTakenBack
from convoy.gate import forbidden, unallowed
from convoy.model import ids
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy, Part
from convoy.model.task_graph import declared_path
from convoy.rules.plans import AddTask, AllowPaths, AssignTask, LinkTask, PartTask
from convoy.rules.sub_issues import FollowList, changes, may_follow
from convoy.text import inline


def _spec(convoy: Convoy, text: str) -> TaskSpec:
    from convoy.planner import tasklist

    try:
        return tasklist.added(convoy, text)
    except tasklist.PlanError as error:
        raise NotPossible(str(error)) from error


def _require_new(convoy: Convoy, request: verb.Request) -> None:
    """Refuse a task already added: a program repeats a request that got no answer."""
    spec = _spec(convoy, request.text)
    for task in convoy.tasks:
        if _essence(task.spec) == _essence(spec) and not task.settled:
            raise NotPossible(f"task {task.number} of {convoy.name} already does this")


def _essence(spec: TaskSpec) -> tuple[object, ...]:
    """Return the parts of a task to compare; its instructions contain its number."""
    return spec.title, spec.paths, spec.needs, spec.after, spec.engine


def _waits_for_paths(convoy: Convoy) -> list[int]:
    gate = convoy.settings.gate
    found = ((task, unallowed(task, gate)) for task in convoy.tasks)
    return [
        task.number
        for task, paths in found
        if task.state == "blocked" and paths and not forbidden(paths)
    ][: verb.MOST_BOXES]


@row(
    text="must",
    text_help="The task, written as a task list item.",
    help="Adds a task, written as a task list item.",
    of_convoy=verb.Endpoint(
        typed="task add",
        help="Add a task to a convoy.",
        check=_require_new,
    ),
)
def add(context: RequestContext, *, text: str) -> str:
    convoy = context.convoy
    spec = _spec(convoy, text)
    context.decide(AddTask, spec=spec)
    after = ", ".join(map(str, spec.after))
    s = "s" * (len(spec.after) > 1)
    waits = f" It will wait for task{s} {after}." if after else ""
    return f"Added task {spec.number}: {inline(spec.title)}.{waits}"


@row(
    words=(
        verb.TASK,
        verb.fixed_word("on"),
        replace(verb.TASK, name="other"),
    ),
    help="Makes a task wait until another is merged.",
)
def depends(context: RequestContext, *, task: int, on: bool, other: int) -> str:  # noqa: ARG001  the word `on`
    context.decide(LinkTask, task=task, on=other)
    return f"Task {task} waits until task {other} is merged."


def _read_engine(word: str) -> str:
    """Read the name of an engine; a later check finds out whether it exists."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", word):
        return word
    raise ValueError("is not an engine name: use at most 40 letters, digits, - and _")


@row(
    words=(
        verb.Argument(name="engine", read=_read_engine, form="<engine>"),
        verb.ANY_TASK,
    ),
    help="Assigns a task, or all unstarted tasks, to another engine.",
)
def engine(context: RequestContext, *, engine: str, task: int | None = None) -> str:
    context.decide(AssignTask, task=task, engine=engine)
    what = f"Task {task} uses" if task else "All tasks that have not started use"
    return f"{what} the engine `{engine}` from now on."


@row(
    help="Updates the plan to match the issue's sub-issues. A comment shows the "
    "changes first.",
    box=verb.Box(
        says="Update the plan to match the changed sub-issues",
        offered=lambda convoy: (0,) if may_follow(convoy) else (),
    ),
    of_convoy=verb.Endpoint(
        help="Update a plan to match the issue's sub-issues.",
        button=may_follow,
    ),
)
def follow(context: RequestContext) -> str:
    before = context.convoy
    target = context.draft.refs.get(ids.HEADS + before.target, "")
    context.decide(FollowList, target=target)
    return f"Plan updated: {'; '.join(changes(before, before.proposed))}."


def _read_path(word: str) -> str:
    try:
        return declared_path(word)
    except ValueError as error:
        raise ValueError("is not a path inside the repository") from error


@row(
    words=(
        verb.TASK,
        verb.Argument(name="path", read=_read_path, form="<path>", needed=False),
    ),
    help="Lets a task change the protected paths that its plan lists, or the "
    "given path.",
    box=verb.Box(
        says="Let task {task} change its protected paths",
        offered=_waits_for_paths,
    ),
    of_task=verb.Endpoint(
        help="Let a task change the protected paths that its plan lists.",
    ),
)
def allow(context: RequestContext, *, task: int, path: str = "") -> str:
    before = context.convoy.task(task)
    context.decide(AllowPaths, task=task, path=path)
    after = context.convoy.task(task)
    known = before.allowed if before else ()
    new = [each for each in (after.allowed if after else ()) if each not in known]
    listed = ", ".join(code_span(each) for each in new)
    return f"Task {task} may change {listed}. Its work still needs green CI."


PLAN: Final = (add, depends, engine, follow, allow)


@row(
    words=(verb.TASK,),
    text="must",
    text_help="The parts, as list items.",
    help="Splits a task into the parts that the text lists.",
    of_task=verb.Endpoint(
        help="Split a task into the parts that the text lists.",
    ),
)
def split(context: RequestContext, *, task: int, text: str) -> str:
    from convoy.planner.plan_reader import parts_in
    from convoy.planner.tasklist import PlanError

    before = context.convoy
    try:
        parts = parts_in(before, context.task(task).spec, text)
    except PlanError as error:
        raise NotPossible(str(error)) from error
    context.decide(PartTask, task=task, parts=parts)
    return f"Task {task} is split into {len(parts)} parts."


def _part(context: RequestContext, task: int | None) -> tuple[Part, int, str]:
    """Return the given task, else the pull request's own, else the convoy as task 0."""
    found = context.own_task if task is None else context.task(task)
    if found is None:
        return context.convoy, 0, "The convoy"
    return found, found.number, f"Task {found.number}"


@row(
    right="maintain",
    words=(verb.ANY_TASK,),
    help="Puts a task's pull request, or the convoy's own, back into the merge "
    "queue. If it was closed, opens a new one.",
    of_task=verb.Endpoint(
        word="release",
        help="Let a held task land.",
        button=lambda task: task.withdrawn and not task.settled,
    ),
)
def merge(context: RequestContext, *, task: int | None = None) -> str:
    part, number, what = _part(context, task)
    out = part.taken_out
    if out is not None and out.gesture == "closed":
        context.decide(WorkTakenBack, task=number)
        return f"brat will open a new pull request to replace #{out.pull}."
    context.decide(MergeRequested, task=number)
    return f"{what} is back in the merge queue."


@row(
    right="maintain",
    words=(verb.ANY_TASK,),
    help="Removes a task's pull request, or the convoy's own, from the merge "
    "queue; `/brat merge` puts it back.",
    of_task=verb.Endpoint(
        word="hold",
        help="Keep a task from landing until it is released.",
        button=lambda task: not (task.settled or task.withdrawn or task.taken_out),
    ),
)
def unqueue(context: RequestContext, *, task: int | None = None) -> str:
    _, number, what = _part(context, task)
    context.decide(MergeWithdrawn, task=number)
    again = f"/brat merge {number}" if task else "/brat merge"
    return f"{what} leaves the merge queue. To put it back, say `{again}`."


QUEUE: Final = (merge, unqueue)
