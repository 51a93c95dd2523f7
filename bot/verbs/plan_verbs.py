"""`add`, `depends`, `engine` and `priority`: changes a convoy's plan."""

from typing import Final

from bot.text.visible_text import code_span
from bot.verbs import arguments as args
from bot.verbs.arguments import ANY_TASK, TASK, Argument
from bot.verbs.request_context import RequestContext
from bot.verbs.reshaping_verbs import changed
from bot.verbs.verb import (
    MOST_BOXES,
    Box,
    ConvoyEndpoint,
    NotPossible,
    Request,
    TaskEndpoint,
    Verb,
)
from convoy.events.plan_events import RankConvoy
from convoy.gate import forbidden, unallowed
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy
from convoy.rules.plan_changes import AddTask, AssignTask, LinkTask
from convoy.rules.plans import AllowPaths
from convoy.text import inline


def _add(context: RequestContext, *, text: str) -> str:
    """Add a task; the text is read like an item of an issue's task list."""
    convoy = context.convoy
    spec = _spec(convoy, text)
    context.submit(AddTask(convoy=convoy.name, spec=spec, by=context.by))
    after = ", ".join(map(str, spec.after))
    waits = f" It waits for task {after}." if after else ""
    said = f"That is task {spec.number}: {inline(spec.title)}.{waits}"
    return f"{said}{changed(context, convoy)}"


def _spec(convoy: Convoy, text: str) -> TaskSpec:
    from convoy.planner import tasklist

    known = {task.number: task.state == "merged" for task in convoy.tasks}
    try:
        return tasklist.addition(convoy.title, text, known, convoy.settings.workers)
    except tasklist.PlanError as error:
        raise NotPossible(str(error)) from error


def _require_new(convoy: Convoy, request: Request) -> None:
    """Refuse a task already added: a program repeats a request that got no answer."""
    spec = _spec(convoy, request.text)
    for task in convoy.tasks:
        if _essence(task.spec) == _essence(spec) and not task.settled:
            raise NotPossible(
                f"task {task.number} of {convoy.name} asks for it already"
            )


def _essence(spec: TaskSpec) -> tuple[object, ...]:
    """Return the parts of a task to compare; its instructions contain its number."""
    return spec.title, spec.paths, spec.needs, spec.after, spec.engine


def _depends(context: RequestContext, *, task: int, on: bool, other: int) -> str:  # noqa: ARG001  the word `on`
    before = context.convoy
    context.submit(LinkTask(convoy=before.name, task=task, on=other, by=context.by))
    said = f"Task {task} waits until task {other} is merged."
    return f"{said}{changed(context, before)}"


def _engine(context: RequestContext, *, engine: str, task: int | None = None) -> str:
    before, by = context.convoy, context.by
    context.submit(AssignTask(convoy=before.name, task=task, engine=engine, by=by))
    what = f"Task {task} goes" if task else "All tasks that have not started go"
    return f"{what} to the engine `{engine}`.{changed(context, before)}"


def _priority(context: RequestContext, *, priority: int) -> str:
    name = context.convoy.name
    context.submit(RankConvoy(convoy=name, priority=priority, by=context.by))
    return f"The convoy has priority `p{priority}`."


def _allow(context: RequestContext, *, task: int, path: str = "") -> str:
    """Let a task change protected paths: those its plan names, or the given one."""
    convoy, by = context.convoy, context.by
    before = convoy.task(task)
    context.submit(AllowPaths(convoy=convoy.name, task=task, by=by, path=path))
    after = context.convoy.task(task)
    known = before.allowed if before else ()
    new = [each for each in (after.allowed if after else ()) if each not in known]
    listed = ", ".join(code_span(each) for each in new)
    return f"Task {task} may change {listed}; its work still needs green CI."


def _waits_for_paths(convoy: Convoy) -> list[int]:
    gate = convoy.settings.gate
    found = ((task, unallowed(task, gate)) for task in convoy.tasks)
    return [
        task.number
        for task, paths in found
        if task.state == "blocked" and paths and not forbidden(paths)
    ][:MOST_BOXES]


VERBS: Final = (
    Verb(
        name="add",
        text="must",
        text_help="As an item of a task list.",
        help="Adds a task that does what the text says, written as in a task list.",
        rule=_add,
        of_convoy=ConvoyEndpoint(
            word="add",
            typed="task add",
            help="Add a task to a convoy.",
            check=_require_new,
        ),
    ),
    Verb(
        name="depends",
        words=(
            TASK,
            args.fixed_word("on"),
            Argument(name="other", read=args.task, form="<task>", write=TASK.write),
        ),
        help="Lets a task wait until another is merged.",
        rule=_depends,
    ),
    Verb(
        name="engine",
        words=(Argument(name="engine", read=args.engine, form="<engine>"), ANY_TASK),
        help="Gives a task, or all that have not started, to another engine.",
        rule=_engine,
    ),
    Verb(
        name="allow",
        words=(
            TASK,
            Argument(name="path", read=args.path, form="<path>", needed=False),
        ),
        help="Lets a task change the protected paths that its plan names, or the "
        "given one.",
        rule=_allow,
        box=Box(
            says="Let task {task} change its protected paths",
            offered=_waits_for_paths,
        ),
        of_task=TaskEndpoint(
            word="allow",
            typed="task allow",
            help="Let a task change the protected paths that its plan names.",
        ),
    ),
    Verb(
        name="priority",
        place="issue",
        right="maintain",
        words=(
            Argument(
                name="priority",
                read=args.priority,
                form="<p0|p1|p2>",
                write=lambda number: f"p{number}",
            ),
        ),
        help="Puts the convoy before or behind others; `p0` is first, `p1` usual.",
        rule=_priority,
    ),
)
