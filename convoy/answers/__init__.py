"""What sessions answer that bring no change: asked for, read, and made a command.

The plan is an answer: an engine, or a plugin, is asked for a convoy's tasks. Reports,
reviews and choices are in `convoy.answers.answering`.
"""

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from convoy.answers import answering
from convoy.answers.answering import Answering, Question, Reply, Taken
from convoy.kinds.task_kinds import PLAN, KindName
from convoy.model.records import PLANNER
from convoy.planner import FILE, Asked, Survey, planned_by
from convoy.planner.plan_reader import (
    House,
    PlanAnswer,
    imports_beside,
    read_plan,
    strength,
    strengths,
)
from convoy.rules.plans import PlanConvoy
from convoy.text import clean, cut, fence_of, fenced

FOLDERS: Final = 200
"""So many folders a plugin is told of; it has them all before it."""
NO_PLAN: Final = "the engine made no plan"


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

{asked_for}
What makes a plan good:

- Each task is for one agent that sees only its own instructions and the repository.
  In the instructions, say what to do, where, and how to tell that it is right.
- Tasks without `after` run at the same time, each on its own branch. Tasks that touch
  the same path wait for each other, so let them touch different paths.
- `paths` are existing files or folders (a folder ends in a slash, no wildcards), and
  `creates` are those that the task creates. A task that builds on another task lists
  its position, counted from 1, in `after`. Documents come after what they describe.
- The tests of what a task changes belong to that task, so that each task can be tested
  separately. Tests of what several tasks change together can be a task after them.
- `acceptance` is a command that shows that the task is done, run at the top of the
  checkout: the narrowest one, such as the tests of one file. Leave it out if there is
  none.
- One task is a good plan when the work is small or cannot be divided. At most {limit}.
- `engine` names the engine that fits the task best, and `why` says why:
{engines}
"""


def plan_brief(survey: Survey, engines: Iterable[str], limit: int, fence: str) -> str:
    """Return the planning task's instructions, in Markdown.

    The survey's names are data, and fenced; `engines` has a line for each.
    """
    named = "\n".join(f"  - {line}" for line in engines)
    form = answering.answer_asked_for("the plan", PlanAnswer, FILE)
    told = _PLAN_BRIEF.format(asked_for=form, limit=limit, engines=named)
    known = fenced(clean(repository_map(survey)), fence)
    return f"{told}\n## The repository\n\n{known}\n"


def repository_map(survey: Survey) -> str:
    """Return what is known about the repository, at most MAP_CHARS long."""
    lines = [f"{survey.files} files."]
    if survey.languages:
        lines.append("By file extension: " + _counted(survey.languages) + ".")
    if survey.tests:
        commands = ", ".join(f"`{command}`" for command in survey.tests)
        lines.append(f"Its tests run with {commands}.")
    if survey.busy:
        lines.append("Changed most recently: " + ", ".join(survey.busy) + ".")
    if survey.used:
        lines.append("Most imported: " + _counted(survey.used) + ".")
    if survey.uses:
        ties = (f"- {one} from {other} {n}" for one, other, n in survey.uses)
        lines += ["Imports between folders, with the number of files:", "", *ties, ""]
    if survey.together:
        ties = (f"- {one} with {other} {n}" for one, other, n in survey.together)
        said = "Recently changed together, with the number of commits:"
        lines += [said, "", *ties, ""]
    if survey.owners:
        lines += ["", "Code owners:", "", survey.owners]
    lines += ["", "Folders, with the number of files below each:", ""]
    text = cut("\n".join(lines), MAP_CHARS - _FOLDERS_CHARS)
    for folder, count in survey.folders:
        line = f"\n- {folder} {count}"
        if len(text) + len(line) > MAP_CHARS:
            return f"{text}\n- and more"
        text += line
    return text


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in pairs)


ANSWERS: Final[dict[KindName, Answering]] = {
    each.kind.name: each
    for each in (
        Answering(kind=PLAN, none=NO_PLAN, told=_ask_plan, read=_take_plan),
        *answering.ANSWERINGS,
    )
}
"""By kind of task; a kind that is not here brings a change."""
