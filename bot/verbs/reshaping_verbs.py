"""`split`: a person writes the parts of a task; and what `merge` does of two tasks."""

import re
from typing import Final

from msgspec.structs import replace

from bot.verbs.arguments import TASK
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import NotPossible, TaskEndpoint, Verb
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy, Task
from convoy.planner import own_words
from convoy.rules.people import BlockTask
from convoy.rules.plan_changes import JoinTasks, PartTask
from convoy.text import cut

WHOLE_CHARS: Final = 6_000
"""How much of the whole task each part is told."""
_ITEM: Final = re.compile(r"^ {0,3}(?:[-*+]|\d{1,3}[.)]) +(?:\[ \] +)?", re.MULTILINE)


def changed(context: RequestContext, before: Convoy) -> str:
    """Return what a request changed of the plan, as a block of Markdown."""
    from bot.text.plan_section import diff_block
    from convoy.views.plan import current_outline, outline_changes

    after = context.convoy
    lines = outline_changes(current_outline(before), current_outline(after))
    return "\n".join(("", "", *diff_block(lines, WHOLE_CHARS, after.name)))


def join(context: RequestContext, task: int, other: int) -> str:
    """Let one task do what two did in the plan."""
    before = context.convoy
    command = JoinTasks(convoy=before.name, task=task, other=other, by=context.by)
    context.submit(command)
    return f"Task {task} does both.{changed(context, before)}"


def _split(context: RequestContext, *, task: int, text: str = "") -> str:
    """Split a task into the parts of a list, or let the mayor find them."""
    before = context.convoy
    found = before.task(task)
    if found is None:
        raise NotPossible(f"{before.name} has no task {task}")
    if not text:
        return _split_by_mayor(context, before, found)
    parts = _parts(before, found, text)
    command = PartTask(convoy=before.name, task=task, parts=parts, by=context.by)
    context.submit(command)
    return f"Task {task} is done in {len(parts)} parts.{changed(context, before)}"


def _split_by_mayor(context: RequestContext, convoy: Convoy, task: Task) -> str:
    number = task.number
    is_active = convoy.state == "active"
    if not is_active or convoy.settings.splitter not in convoy.settings.engines:
        raise NotPossible(
            "no engine can split it now: write the parts as a list, "
            f"`/brat split {number} -- ` and `- one` and `- two` on lines of their own"
        )
    if task.attempt is not None or task.state not in ("queued", "blocked"):
        raise NotPossible(f"task {number} is {task.state}: it is too late for that")
    if task.state == "blocked":
        raise NotPossible(f"task {number} is blocked: say `/brat retry {number}` first")
    why = f"{context.by} wants it split"
    command = BlockTask(
        convoy=convoy.name, task=number, why=why, by=context.by, splits=True
    )
    context.submit(command)
    return f"The engine `{convoy.settings.splitter}` splits task {number}."


def _parts(convoy: Convoy, whole: Task, text: str) -> tuple[TaskSpec, ...]:
    """Read the parts of a list, each like an item that is added to the plan."""
    from convoy.planner import tasklist
    from convoy.planner.ground import Ground
    from convoy.planner.plan_reader import ordered

    _, *items = [each.strip() for each in _ITEM.split(text)]
    known = {task.number: task.state == "merged" for task in convoy.tasks}
    found: list[TaskSpec] = []
    for item in items:
        try:
            spec = tasklist.addition(convoy.title, item, known, convoy.settings.workers)
        except tasklist.PlanError as error:
            raise NotPossible(str(error)) from error
        known[spec.number] = False
        found.append(_part(spec, whole.spec))
    return ordered(tuple(found), Ground(files=()), {})


def _part(spec: TaskSpec, whole: TaskSpec) -> TaskSpec:
    """Return a part that waits for what the whole waited for, and knows of it."""
    told = cut(own_words(whole), WHOLE_CHARS)
    return replace(
        spec,
        instructions=f"{spec.instructions}\n\nIt is a part of what was task "
        f"{whole.number}; other tasks do the rest of it:\n\n{told}",
        after=tuple(sorted({*spec.after, *whole.after} - {whole.number})),
        waits=(*spec.waits, *whole.waits),
        needs=tuple(dict.fromkeys((*spec.needs, *whole.needs))),
        part_of=whole.number,
    )


VERBS: Final = (
    Verb(
        name="split",
        words=(TASK,),
        text="may",
        text_help="The parts, as items of a list.",
        help="Does a task in the parts that the text lists; without a text the engine "
        "of `[mayor]` finds them.",
        rule=_split,
        of_task=TaskEndpoint(
            word="split",
            typed="task split",
            help="Do a task in parts, which the text lists.",
        ),
    ),
)
