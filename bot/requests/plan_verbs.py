"""The verbs that change a plan: `add`, `depends`, `engine`, `follow`, `allow`.

With them `split`, by which a person writes the parts of a task, and `merge` and
`unqueue`, which move a pull request in the merge queue.
"""

import re
from typing import Final

from msgspec.structs import replace

from bot.requests import verb
from bot.requests.verb import NotPossible, RequestContext, Verb
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


def _add(context: RequestContext, *, text: str) -> str:
    convoy = context.convoy
    spec = _spec(convoy, text)
    context.submit(AddTask(convoy=convoy.name, spec=spec, by=context.by))
    after = ", ".join(map(str, spec.after))
    s = "s" * (len(spec.after) > 1)
    waits = f" It will wait for task{s} {after}." if after else ""
    return f"Added task {spec.number}: {inline(spec.title)}.{waits}"


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


def _depends(context: RequestContext, *, task: int, on: bool, other: int) -> str:  # noqa: ARG001  the word `on`
    name = context.convoy.name
    context.submit(LinkTask(convoy=name, task=task, on=other, by=context.by))
    return f"Task {task} waits until task {other} is merged."


def _read_engine(word: str) -> str:
    """Read the name of an engine; a later check finds out whether it exists."""
    if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", word):
        return word
    raise ValueError("is not an engine name: use at most 40 letters, digits, - and _")


def _engine(context: RequestContext, *, engine: str, task: int | None = None) -> str:
    name, by = context.convoy.name, context.by
    context.submit(AssignTask(convoy=name, task=task, engine=engine, by=by))
    what = f"Task {task} uses" if task else "All tasks that have not started use"
    return f"{what} the engine `{engine}` from now on."


def _follow(context: RequestContext) -> str:
    before = context.convoy
    target = context.draft.refs.get(ids.HEADS + before.target, "")
    context.submit(FollowList(convoy=before.name, by=context.by, target=target))
    return f"Plan updated: {'; '.join(changes(before, before.proposed))}."


def _read_path(word: str) -> str:
    try:
        return declared_path(word)
    except ValueError as error:
        raise ValueError("is not a path inside the repository") from error


def _allow(context: RequestContext, *, task: int, path: str = "") -> str:
    convoy, by = context.convoy, context.by
    before = convoy.task(task)
    context.submit(AllowPaths(convoy=convoy.name, task=task, by=by, path=path))
    after = context.convoy.task(task)
    known = before.allowed if before else ()
    new = [each for each in (after.allowed if after else ()) if each not in known]
    listed = ", ".join(code_span(each) for each in new)
    return f"Task {task} may change {listed}. Its work still needs green CI."


def _waits_for_paths(convoy: Convoy) -> list[int]:
    gate = convoy.settings.gate
    found = ((task, unallowed(task, gate)) for task in convoy.tasks)
    return [
        task.number
        for task, paths in found
        if task.state == "blocked" and paths and not forbidden(paths)
    ][: verb.MOST_BOXES]


PLAN: Final = (
    Verb(
        name="add",
        text="must",
        text_help="The task, written as a task list item.",
        help="Adds a task, written as a task list item.",
        rule=_add,
        of_convoy=verb.Endpoint(
            typed="task add",
            help="Add a task to a convoy.",
            check=_require_new,
        ),
    ),
    Verb(
        name="depends",
        words=(verb.TASK, verb.fixed_word("on"), replace(verb.TASK, name="other")),
        help="Makes a task wait until another is merged.",
        rule=_depends,
    ),
    Verb(
        name="engine",
        words=(
            verb.Argument(name="engine", read=_read_engine, form="<engine>"),
            verb.ANY_TASK,
        ),
        help="Assigns a task, or all unstarted tasks, to another engine.",
        rule=_engine,
    ),
    Verb(
        name="follow",
        help="Updates the plan to match the issue's sub-issues. A comment shows the "
        "changes first.",
        rule=_follow,
        box=verb.Box(
            says="Update the plan to match the changed sub-issues",
            offered=lambda convoy: (0,) if may_follow(convoy) else (),
        ),
        of_convoy=verb.Endpoint(
            help="Update a plan to match the issue's sub-issues.",
            button=may_follow,
        ),
    ),
    Verb(
        name="allow",
        words=(
            verb.TASK,
            verb.Argument(name="path", read=_read_path, form="<path>", needed=False),
        ),
        help="Lets a task change the protected paths that its plan lists, or the "
        "given path.",
        rule=_allow,
        box=verb.Box(
            says="Let task {task} change its protected paths",
            offered=_waits_for_paths,
        ),
        of_task=verb.Endpoint(
            help="Let a task change the protected paths that its plan lists.",
        ),
    ),
)


def _split(context: RequestContext, *, task: int, text: str) -> str:
    from convoy.planner.plan_reader import parts_in
    from convoy.planner.tasklist import PlanError

    before = context.convoy
    try:
        parts = parts_in(before, context.task(task).spec, text)
    except PlanError as error:
        raise NotPossible(str(error)) from error
    command = PartTask(convoy=before.name, task=task, parts=parts, by=context.by)
    context.submit(command)
    return f"Task {task} is split into {len(parts)} parts."


SPLIT: Final = Verb(
    name="split",
    words=(verb.TASK,),
    text="must",
    text_help="The parts, as list items.",
    help="Splits a task into the parts that the text lists.",
    rule=_split,
    of_task=verb.Endpoint(
        help="Split a task into the parts that the text lists.",
    ),
)


def _merge(context: RequestContext, *, task: int | None = None) -> str:
    part, number, what = _part(context, task)
    name, out = context.convoy.name, part.taken_out
    if out is not None and out.gesture == "closed":
        context.submit(WorkTakenBack(convoy=name, task=number, by=context.by))
        return f"brat will open a new pull request to replace #{out.pull}."
    context.submit(MergeRequested(convoy=name, task=number, by=context.by))
    return f"{what} is back in the merge queue."


def _unqueue(context: RequestContext, *, task: int | None = None) -> str:
    name, (_, number, what) = context.convoy.name, _part(context, task)
    context.submit(MergeWithdrawn(convoy=name, task=number, by=context.by))
    again = f"/brat merge {number}" if task else "/brat merge"
    return f"{what} leaves the merge queue. To put it back, say `{again}`."


def _part(context: RequestContext, task: int | None) -> tuple[Part, int, str]:
    """Return the given task, else the pull request's own, else the convoy as task 0."""
    found = context.own_task if task is None else context.task(task)
    if found is None:
        return context.convoy, 0, "The convoy"
    return found, found.number, f"Task {found.number}"


QUEUE: Final = (
    Verb(
        name="merge",
        right="maintain",
        words=(verb.ANY_TASK,),
        help="Puts a task's pull request, or the convoy's own, back into the merge "
        "queue. If it was closed, opens a new one.",
        rule=_merge,
        of_task=verb.Endpoint(
            word="release",
            help="Let a held task land.",
            button=lambda task: task.withdrawn and not task.settled,
        ),
    ),
    Verb(
        name="unqueue",
        right="maintain",
        words=(verb.ANY_TASK,),
        help="Removes a task's pull request, or the convoy's own, from the merge "
        "queue; `/brat merge` puts it back.",
        rule=_unqueue,
        of_task=verb.Endpoint(
            word="hold",
            help="Keep a task from landing until it is released.",
            button=lambda task: not (task.settled or task.withdrawn or task.taken_out),
        ),
    ),
)
