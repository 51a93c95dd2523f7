"""The parts of a task as an answer: asked for, read, and checked like any plan."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from convoy.answers.answering import Answering, Question, Reply, Taken
from convoy.answers.plan_answer import NONE
from convoy.events.forge_actions import Answer
from convoy.kinds import kind_of
from convoy.kinds.split_kind import KIND, LEAST, room
from convoy.model import ids
from convoy.model.records import TaskSpec, Wait
from convoy.model.state import Convoy, Task
from convoy.model.task_graph import relinked
from convoy.planner import brief as planning
from convoy.planner.answer import FAULTS, House, Unusable, read
from convoy.planner.edges import ordered
from convoy.planner.strengths import strengths
from convoy.rules.split_task import SplitTask
from convoy.text.escaped_markdown import fitting, inline
from convoy.text.fence import fence_of
from convoy.text.forge_limits import POST_CHARS
from convoy.text.json_block import Unfit
from convoy.text.plaintext import cut

_BRIEF: Final = """\

## This is a split

The task between the lines was too much for one agent. Plan it as {least} tasks or more
that together do all of it and nothing else, each so much smaller that one agent can do
it. What made it stop is what the parts must avoid.{within} Where smaller tasks would
not help, write no plan and end with `BRAT: blocked` and why: then a person is asked.
"""


def brief(task: Task) -> str:
    """Return what a session that splits is told beside what any planner is told."""
    paths = ", ".join(f"`{path}`" for path in task.spec.paths)
    within = f" They touch nothing but: {paths}." if paths else ""
    return _BRIEF.format(least=LEAST, within=within)


def parts(text: str, house: House, convoy: Convoy, task: Task) -> tuple[TaskSpec, ...]:
    """Return a task's parts, numbered behind the convoy's tasks and in their order.

    They wait for what the task waited for, and where they share a path with what is
    still to be done, the later waits.

    Args:
        text: what the model wrote, with its plan as the last JSON object.
        house: what the plan must fit.
        convoy: the task's.
        task: what is split.

    Raises:
        Unusable: it is no plan, or no split of this task.
    """
    found = read(text, house)
    if faults := tuple(_faults(found, task)):
        raise Unusable(faults[:FAULTS])
    first = convoy.next_number - 1
    moved = tuple(_moved(spec, first, task.spec) for spec in found)
    others = tuple(each.spec for each in convoy.tasks if _may_collide(each, task))
    made: Mapping[int, tuple[str, ...]] = {}
    whole = ordered(relinked(others, task.number, moved), house.ground, made)
    numbers = {spec.number for spec in moved}
    return tuple(spec for spec in whole if spec.number in numbers)


def _may_collide(other: Task, task: Task) -> bool:
    is_other = not other.settled and other.number != task.number
    return is_other and kind_of(other.spec).is_work


def _faults(found: tuple[TaskSpec, ...], task: Task) -> Iterator[str]:
    if len(found) < LEAST:
        yield f"The split has {len(found)} task, and at least {LEAST} are needed."
    for spec in found:
        for path in spec.paths:
            if not _is_within(path, task.spec):
                allowed = ", ".join(task.spec.paths)
                yield (
                    f'Task {spec.number}: the path "{cut(path, 80)}" is not among '
                    f"those of task {task.number}: {cut(allowed, 300)}."
                )


def _is_within(path: str, whole: TaskSpec) -> bool:
    """Whether a part may touch a path: all of it is the whole task's."""
    if not whole.paths:
        return True
    slashed = f"{path.rstrip('/')}/"
    return any(slashed.startswith(f"{each.rstrip('/')}/") for each in whole.paths)


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


def shown(task: Task, parts: tuple[TaskSpec, ...]) -> str:
    """Return what a task was split into as people read it, in Markdown."""
    head = f"**Task {task.number} ({inline(task.spec.title)})** was too much for one "
    lines = [f"{head}agent: {inline(task.why)}. It is done in parts:", ""]
    for part in parts:
        after = ", ".join(map(str, part.after))
        where = f" (after {after})" if after else ""
        lines.append(f"- task {part.number}: {inline(part.title)}{where}")
    more = "{}: `brat status` lists them all"
    return "\n".join(fitting(lines, more, POST_CHARS - len(more)))


def _told(question: Question) -> str:
    convoy = question.convoy
    survey = question.repository.surveyed(convoy.base)
    engines = strengths(question.state, convoy.settings.workers)
    fence = fence_of(question.session)
    whole = convoy.task(question.task.spec.on[0])
    told = planning.brief(survey, engines, room(convoy), fence)
    return told + (brief(whole) if whole is not None else "")


def _read(reply: Reply) -> Taken:
    convoy, task, attempt = reply.convoy, reply.task, reply.attempt
    whole = convoy.task(task.spec.on[0])
    if whole is None:
        raise Unfit(f"There is no task {task.spec.on[0]} any more.")
    house = House(
        files=reply.repository.files(attempt.base),
        engines=convoy.settings.workers,
        limit=room(convoy),
        text=reply.repository.text(attempt.base),
    )
    found = parts(reply.text, house, convoy, whole)
    sign = ids.session_name(convoy.name, task.number, attempt.number)
    return Taken(
        command=SplitTask(
            convoy=convoy.name,
            task=task.number,
            attempt=attempt.number,
            parts=found,
            usage=reply.usage,
        ),
        said=Answer(
            issue=convoy.issue,
            sign=ids.sign_key(KIND.name, sign),
            text=shown(whole, found),
        ),
    )


SPLIT_ANSWER = Answering(kind=KIND, none=NONE, told=_told, read=_read)
