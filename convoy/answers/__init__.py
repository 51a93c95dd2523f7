"""What sessions answer that bring no change: asked for, read, and made a command.

The plan is an answer: an engine, or a plugin, is asked for a convoy's tasks. The parts
of a task that was too much for one agent are asked for, read, and checked like any
plan. Reports, reviews and choices are in `convoy.answers.answering`.
"""

import json
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from convoy.answers import answering
from convoy.answers.answering import Answering, Question, Reply, Taken
from convoy.kinds import kind_of
from convoy.kinds.task_kinds import PARTS_LEAST, PLAN, SPLIT, KindName, room_for_parts
from convoy.model.records import PLANNER, TaskSpec, Wait
from convoy.model.state import Convoy, Task
from convoy.model.task_graph import relinked
from convoy.planner import FILE, Asked, Survey, planned_by
from convoy.planner.plan_reader import (
    PLAN_FAULTS,
    House,
    PlanAnswer,
    imports_beside,
    ordered,
    read_plan,
    strength,
    strengths,
)
from convoy.rules.plan_changes import SplitTask
from convoy.rules.plans import PlanConvoy
from convoy.text import POST_CHARS, Unfit, clean, cut, fence_of, fenced, fitting, inline

FOLDERS: Final = 200
"""So many folders a plugin is told of; it has them all before it."""
NO_PLAN: Final = "it made no plan"


def _ask_plan(question: Question) -> str:
    settings = question.convoy.settings
    survey = question.repository.surveyed(question.convoy.base)
    if not settings.planner.startswith(PLANNER):
        known = strengths(question.state, settings.workers)
        return plan_brief(survey, known, settings.tasks, fence_of(question.session))
    tops = [each for each in survey.folders if each[0].count("/") == 1]
    engines = settings.workers.items()
    asked = Asked(
        limit=settings.tasks,
        engines={name: strength(question.state, engine) for name, engine in engines},
        survey=replace(survey, folders=tuple(tops[:FOLDERS])),
    )
    return msgspec.json.encode(asked).decode()


def _take_plan(reply: Reply) -> Taken:
    convoy, repository = reply.convoy, reply.repository
    house = House(
        files=repository.files(convoy.base),
        engines=convoy.settings.workers,
        limit=convoy.settings.tasks,
        text=repository.text(convoy.base),
    )
    tasks = read_plan(reply.text, house, convoy.next_number)
    return Taken(
        command=PlanConvoy(
            convoy=convoy.name,
            planner=planned_by(convoy.settings.planner),
            tasks=tasks,
            attempt=reply.attempt.number,
            usage=reply.usage,
            scopes=repository.scopes(convoy.base, tasks),
            warnings=imports_beside(tasks, house),
        )
    )


MAP_CHARS: Final = 12_000
_FOLDERS_CHARS: Final = 4_000
"""How much of it is at least for the folders."""

_PLAN_BRIEF: Final = """\
Plan the work that the issue asks for; do not do it. Look around in this folder, a
checkout of the repository, and change nothing in it.

Write the plan into the file `{file}` at the top of this folder: one JSON object that
fits this schema, and nothing else. If you cannot write files, end your last message
with it, in a block of ```json.

{schema}

What makes a plan good:

- Each task is for one agent that sees only its own instructions and the repository.
  Say in them what is to be done, where, and how it is known to be right.
- Tasks without `after` run at the same time, each on a branch of its own. Tasks that
  touch the same path wait for each other, so let them touch different ones.
- `paths` are files or folders there are (a folder ends in a slash, no wildcards),
  `creates` those that the task makes. A task that builds on another's work names its
  position, counted from 1, in `after`. Documents come after what they describe.
- The tests of what a task changes belong to that task, so that each task can be judged
  by itself. Tests of what several tasks change together may be a task behind them.
- `acceptance` is a command that shows that the task is done, run at the top of the
  checkout: the narrowest one, such as the tests of one file. Leave it out where there
  is none.
- One task is a good plan when the work is small or cannot be divided. At most {limit}.
- `engine` is the name of the one that fits the task best, `why` says why it does:
{engines}
"""


def plan_brief(survey: Survey, engines: Iterable[str], limit: int, fence: str) -> str:
    """Return the planning task's instructions, in Markdown.

    The survey's names are data, and fenced; `engines` has a line for each.
    """
    named = "\n".join(f"  - {line}" for line in engines)
    schema = json.dumps(PlanAnswer.model_json_schema(), separators=(",", ":"))
    told = _PLAN_BRIEF.format(file=FILE, schema=schema, limit=limit, engines=named)
    known = fenced(clean(repository_map(survey)), fence)
    return f"{told}\n## The repository\n\n{known}\n"


def repository_map(survey: Survey) -> str:
    """Return what is known about the repository, at most MAP_CHARS long."""
    lines = [f"{survey.files} files."]
    if survey.languages:
        lines.append("By ending: " + _counted(survey.languages) + ".")
    if survey.tests:
        commands = ", ".join(f"`{command}`" for command in survey.tests)
        lines.append(f"Its tests are run by {commands}.")
    if survey.busy:
        lines.append("Changed most lately: " + ", ".join(survey.busy) + ".")
    if survey.used:
        lines.append("Imported by most others: " + _counted(survey.used) + ".")
    if survey.uses:
        ties = (f"- {one} from {other} {n}" for one, other, n in survey.uses)
        lines += ["What imports from what, and in how many files:", "", *ties, ""]
    if survey.together:
        ties = (f"- {one} with {other} {n}" for one, other, n in survey.together)
        said = "Changed in the same commits, and in how many of late:"
        lines += [said, "", *ties, ""]
    if survey.owners:
        lines += ["", "Its code owners:", "", survey.owners]
    lines += ["", "Folders, and how many files lie below each:", ""]
    text = cut("\n".join(lines), MAP_CHARS - _FOLDERS_CHARS)
    for folder, count in survey.folders:
        line = f"\n- {folder} {count}"
        if len(text) + len(line) > MAP_CHARS:
            return f"{text}\n- and more"
        text += line
    return text


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in pairs)


_SPLIT_BRIEF: Final = """\

## This is a split

The task between the lines was too much for one agent. Plan it as {least} tasks or more
that together do all of it and nothing else, each so much smaller that one agent can do
it. What made it stop is what the parts must avoid.{within} Where smaller tasks would
not help, write no plan and end with `BRAT: blocked` and why: then a person is asked.
"""


def split_brief(task: Task) -> str:
    paths = ", ".join(f"`{path}`" for path in task.spec.paths)
    within = f" They touch nothing but: {paths}." if paths else ""
    return _SPLIT_BRIEF.format(least=PARTS_LEAST, within=within)


def split_parts(
    text: str, house: House, convoy: Convoy, task: Task
) -> tuple[TaskSpec, ...]:
    """Return a task's parts, numbered behind the convoy's tasks and in their order.

    They wait for what the task waited for, and where they share a path with what is
    still to be done, the later waits.
    """
    found = read_plan(text, house)
    faults: list[str] = []
    if len(found) < PARTS_LEAST:
        few = f"The split has {len(found)} task; at least {PARTS_LEAST} are needed."
        faults.append(few)
    allowed = ", ".join(task.spec.paths)
    within = tuple(f"{each.rstrip('/')}/" for each in task.spec.paths)
    faults += (
        f'Task {spec.number}: the path "{cut(path, 80)}" is not among '
        f"those of task {task.number}: {cut(allowed, 300)}."
        for spec in found
        for path in spec.paths
        if within and not f"{path.rstrip('/')}/".startswith(within)
    )
    if faults:
        raise Unfit(*faults[:PLAN_FAULTS])
    first = convoy.next_number - 1
    moved = tuple(_moved(spec, first, task.spec) for spec in found)
    others = tuple(
        each.spec
        for each in convoy.tasks
        if not each.settled
        and each.number != task.number
        and kind_of(each.spec).is_work
    )
    whole = ordered(relinked(others, task.number, moved), house, {})
    numbers = {spec.number for spec in moved}
    return tuple(spec for spec in whole if spec.number in numbers)


def _moved(spec: TaskSpec, by: int, whole: TaskSpec) -> TaskSpec:
    """Return a part with its number in the convoy, behind what the whole waited for."""
    after = {*(number + by for number in spec.after), *whole.after}
    return replace(
        spec,
        number=spec.number + by,
        after=tuple(sorted(after)),
        needs=tuple(dict.fromkeys((*spec.needs, *whole.needs))),
        waits=(
            *(
                Wait(each.on + by, each.why, overlap=each.overlap)
                for each in spec.waits
            ),
            *whole.waits,
        ),
        part_of=whole.number,
    )


def _ask_split(question: Question) -> str:
    convoy = question.convoy
    survey = question.repository.surveyed(convoy.base)
    engines = strengths(question.state, convoy.settings.workers)
    fence = fence_of(question.session)
    whole = convoy.task(question.task.spec.on[0])
    told = plan_brief(survey, engines, room_for_parts(convoy), fence)
    return told + (split_brief(whole) if whole is not None else "")


def _take_split(reply: Reply) -> Taken:
    convoy, task, attempt = reply.convoy, reply.task, reply.attempt
    whole = convoy.task(task.spec.on[0])
    if whole is None:
        raise Unfit(f"Task {task.spec.on[0]} no longer exists.")
    house = House(
        files=reply.repository.files(attempt.base),
        engines=convoy.settings.workers,
        limit=room_for_parts(convoy),
        text=reply.repository.text(attempt.base),
    )
    found = split_parts(reply.text, house, convoy, whole)
    head = f"**Task {whole.number} ({inline(whole.spec.title)})** was too much for one "
    lines = [f"{head}agent: {inline(whole.why)}. It is split into parts:", ""]
    for part in found:
        after = ", ".join(map(str, part.after))
        where = f" (after {after})" if after else ""
        lines.append(f"- task {part.number}: {inline(part.title)}{where}")
    more = "{}: `brat status` lists all"
    text = "\n".join(fitting(lines, more, POST_CHARS - len(more)))
    return Taken(
        command=SplitTask(
            convoy=convoy.name,
            task=task.number,
            attempt=attempt.number,
            parts=found,
            usage=reply.usage,
        ),
        said=reply.answer(SPLIT, text),
    )


ANSWERS: Final[dict[KindName, Answering]] = {
    each.kind.name: each
    for each in (
        Answering(kind=PLAN, none=NO_PLAN, told=_ask_plan, read=_take_plan),
        Answering(kind=SPLIT, none=NO_PLAN, told=_ask_split, read=_take_split),
        *answering.ANSWERINGS,
    )
}
"""By kind of task; a kind that is not here brings a change."""
