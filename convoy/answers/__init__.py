"""What sessions answer that bring no change: asked for, read, and made a command.

An answer is a stranger's text, and so are the work and the question that it is about.
It is judged by a schema, a report also by whether the files it names are there, a
choice by whether the winner can be chosen. Whatever reads one raises `Unfit`, and what
is wrong is told to the next attempt. The plan is an answer, too: an engine, or a
plugin, is asked for a convoy's tasks.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from pydantic import AfterValidator, Field

from convoy.events import Command
from convoy.events.forge_actions import Answer
from convoy.kinds import kind_of
from convoy.kinds.rivals import CHOICE, rivals, rivals_left
from convoy.kinds.task_kinds import PLAN, REPORT, REVIEW, TaskKind
from convoy.model import ids, records
from convoy.model.state import Convoy, State, Task
from convoy.model.work import Attempt
from convoy.planner import FILE, REPLY, Survey, plan_reader
from convoy.planner.ground import Ground
from convoy.rules.ending import AcceptReport, AcceptReview, MakeChoice
from convoy.rules.plans import PlanConvoy
from convoy.text import (
    POST_CHARS,
    Unfit,
    clean,
    cut,
    fence_of,
    fenced,
    fitting,
    harmless,
    inline,
)
from convoy.text.redaction import redacted


class Repository(Protocol):
    """What a question or an answer may be about: the repository, by its commits."""

    def files(self, commit: str) -> tuple[str, ...]: ...

    def text(self, commit: str) -> Callable[[str], str]:
        """Return what gives a file's text at a commit; empty: it is none."""

    def diff(self, base: str, commit: str, room: int) -> str:
        """Return a patch, cut a little behind so many characters."""

    def surveyed(self, commit: str) -> Survey: ...

    def scopes(
        self, commit: str, tasks: tuple[records.TaskSpec, ...]
    ) -> tuple[records.Scope, ...]:
        """Return which paths of the tasks a commit does not have."""


class Question(Struct, frozen=True, kw_only=True):
    """A session that is about to start."""

    state: State
    convoy: Convoy
    task: Task
    session: str
    """Its secret name, of which its fence is made."""
    repository: Repository


class Reply(Struct, frozen=True, kw_only=True):
    convoy: Convoy
    task: Task
    attempt: Attempt
    text: str
    """A stranger's."""
    usage: records.Usage
    repository: Repository

    def answer(self, kind: TaskKind, text: str, issue: int | None = None) -> Answer:
        name = ids.session_name(self.convoy.name, self.task.number, self.attempt.number)
        sign = ids.sign_key(kind.name, name)
        return Answer(issue=issue or self.convoy.issue, sign=sign, text=text)

    def ends_in(
        self,
        form: type[AcceptReport] | type[AcceptReview] | type[MakeChoice],
        **answer: Any,  # noqa: ANN401  its own fields
    ) -> Command:
        name, task, attempt = self.convoy.name, self.task.number, self.attempt.number
        return form(convoy=name, task=task, attempt=attempt, usage=self.usage, **answer)


class Taken(Struct, frozen=True, kw_only=True):
    command: Command
    said: Answer | None = None
    """What people are told of it, once the command is carried out."""
    kept: Task | None = None
    """The task whose work is kept then: its branch may go."""


class Answering(Struct, frozen=True):
    """How one kind's sessions are asked, and how their answers are read."""

    none: str
    """Why an attempt failed that gave no answer and no reason."""
    told: Callable[[Question], str]
    """Says what a session is told beside its task, in Markdown."""
    read: Callable[[Reply], Taken]
    """Raises Unfit where the answer cannot be used."""


ANSWER_FAULTS: Final = 10
"""So many are told at once."""
_ASKED: Final = """\
Write {what} to `{file}` in the root of this folder: a single JSON object that matches
this schema, and nothing else. If you cannot write files, put the object at the end of
your last message, in a ```json block.

{schema}
"""


def answer_asked_for(
    what: str, form: type[plan_reader.AnswerForm], file: str = REPLY
) -> str:
    schema = json.dumps(form.model_json_schema(), separators=(",", ":"))
    return _ASKED.format(what=what, file=file, schema=schema)


def words(text: str) -> str:
    return redacted(clean(text)).strip()


# Both come behind the lengths, which hold for what the agent wrote.
_CLEANED: Final = AfterValidator(words)
_ONE_LINE: Final = AfterValidator(lambda text: " ".join(words(text).split()))


_HOW: Final = """\
`summary` answers the question in a few sentences. Each finding is one thing that you
saw, with the `paths` that show it: existing files or folders, relative to the top of
the repository. List what you could not find out in `open`.
"""


class Found(plan_reader.AnswerForm):
    """One thing that was found out."""

    title: Annotated[str, Field(min_length=1, max_length=200), _ONE_LINE]
    detail: Annotated[str, Field(max_length=2_000), _CLEANED] = ""
    paths: Annotated[tuple[str, ...], Field(max_length=20)] = ()


class Reported(plan_reader.AnswerForm):
    """A whole report, as an agent writes it."""

    summary: Annotated[str, Field(min_length=1, max_length=4_000), _CLEANED]
    findings: Annotated[tuple[Found, ...], Field(max_length=30)] = ()
    recommendation: Annotated[str, Field(max_length=2_000), _CLEANED] = ""
    open: Annotated[
        tuple[Annotated[str, Field(max_length=500), _ONE_LINE], ...],
        Field(max_length=20),
    ] = ()


def read_report(text: str, known: Collection[str] | None) -> records.Report:
    """Return the report that an agent wrote.

    `known` are the files and folders (with a slash) that a finding may name; None: any.
    """
    found = plan_reader.read_form(text, Reported, REPORT.answer, ANSWER_FAULTS)
    missing = [
        f'Finding {number}: "{cut(clean(path), 80)}" does not exist.'
        for number, finding in enumerate(found.findings, 1)
        for path in finding.paths
        if known is not None and path not in known and f"{path}/" not in known
    ]
    if missing:
        raise Unfit(*missing[:ANSWER_FAULTS])
    if not found.summary:
        raise Unfit("The report has no summary.")
    report = msgspec.convert(found, records.Report, from_attributes=True)
    findings = (
        replace(each, paths=tuple(map(words, each.paths))) for each in report.findings
    )
    return replace(report, findings=tuple(findings))


def report_markdown(task: Task, report: records.Report) -> str:
    lines = [
        f"### Report of task {task.number}: {inline(task.spec.title)}",
        "",
        *harmless(report.summary),
        "",
    ]
    for number, finding in enumerate(report.findings, 1):
        where = ", ".join(map(inline, finding.paths))
        title = inline(finding.title)
        lines.append(f"{number}. **{title}**{f' ({where})' if where else ''}")
        lines += (f"   {line}" for line in harmless(finding.detail) if line)
    if report.recommendation:
        recommended = " ".join(harmless(report.recommendation))
        lines += ["", f"**Recommendation.** {recommended}"]
    if report.open:
        lines += ["", "**Open questions:**", ""]
        lines += (f"- {' '.join(harmless(each))}" for each in report.open)
    more = f"{{}} lines: `brat task show {task.number} --json`"
    return "\n".join(fitting(lines, more, POST_CHARS - len(more)))


def report_brief(kind: TaskKind) -> str:
    return f"{kind.finds_out}\n{answer_asked_for('it', Reported)}\n{_HOW}"


def _take_report(reply: Reply) -> Taken:
    convoy, task = reply.convoy, reply.task
    known = None  # a scout may name what its attempt made
    if not kind_of(task.spec).keeps_tries:
        known = Ground(files=reply.repository.files(reply.attempt.base)).known
    found = read_report(reply.text, known)
    sign = ids.sign_key(REPORT.name, f"{convoy.name}/{task.number}")
    said = Answer(issue=convoy.issue, sign=sign, text=report_markdown(task, found))
    # Another task that waits for it is handed what it found out.
    is_awaited = any(task.number in other.spec.after for other in convoy.tasks)
    return Taken(
        command=reply.ends_in(AcceptReport, report=found),
        said=None if is_awaited else said,
    )


DIFF_CHARS: Final = 40_000
REVIEW_CHARS: Final = 8_000

_REVIEW_BRIEF: Final = """\
Another agent did task {number}, and you have not seen how. This folder is a checkout
with its work in it. Look at the work with fresh eyes: does it do all that was asked
and nothing else, and what goes wrong with it? Read the code around it, and run whatever
helps; none of your changes here will be used.

{asked_for}
`changes` sends the work back to its agent with your `text`: for each point, say where
it is and what must change. Ask only for what must change. `approve` can also have a
`text`.

## What was asked for

{asked}

## What it changed{cut}

{diff}
"""


class ReviewAnswer(plan_reader.AnswerForm):
    """A verdict, as an agent writes it."""

    verdict: records.Opinion
    text: Annotated[str, Field(max_length=REVIEW_CHARS), _CLEANED] = ""


def read_review(text: str) -> ReviewAnswer:
    found = plan_reader.read_form(text, ReviewAnswer, REVIEW.answer, ANSWER_FAULTS)
    if found.verdict == "changes" and not found.text:
        raise Unfit("The review requests changes but does not say which ones.")
    return found


def review_brief(question: Question) -> str:
    subject = question.convoy.task(question.task.spec.on[0])
    if subject is None or subject.work is None:
        return ""
    work, spec, fence = subject.work, subject.spec, fence_of(question.session)
    diff = question.repository.diff(work.base, work.commit, DIFF_CHARS)
    is_cut = len(diff) > DIFF_CHARS
    return _REVIEW_BRIEF.format(
        number=subject.number,
        asked_for=answer_asked_for("your verdict", ReviewAnswer),
        asked=fenced(clean(f"{spec.title}\n\n{spec.instructions}"), fence),
        cut=" (only the beginning; see the files for the rest)" if is_cut else "",
        diff=fenced(clean(cut(diff, DIFF_CHARS)), fence),
    )


def _take_review(reply: Reply) -> Taken:
    convoy, task, attempt = reply.convoy, reply.task, reply.attempt
    found = read_review(reply.text)
    subject = convoy.task(task.spec.on[0])
    pull = subject.pull if subject is not None else None
    said = {"approve": "approved", "changes": "requested changes to"}[found.verdict]
    what = f"{said} `{attempt.base[:10]}`{':' if found.text else '.'}"
    head = f"**Task {task.number} ({inline(task.spec.title)})** {what}"
    return Taken(
        command=reply.ends_in(AcceptReview, verdict=found.verdict, text=found.text),
        said=reply.answer(REVIEW, "\n".join((head, "", *harmless(found.text))), pull),
        kept=subject if found.verdict == "changes" else None,
    )


DIFFS_CHARS: Final = 60_000
"""Of all rivals; each has as much as any other."""
CHOICE_CHARS: Final = 2_000

_CHOICE_BRIEF: Final = """\
Several agents did the same task, each without seeing the others' work, and CI found
all of these green: tasks {numbers}. This folder is a checkout without their work.
Compare what they changed, and choose the one that lands; the others are discarded. Look
for the one that does all that was asked and nothing else, is right even where no test
checks it, and fits the code around it. Change nothing in this folder.

{asked_for}
`winner` is the number of one of these tasks, and `text` says in a few sentences why it
is the best and what the others lack.

## What was asked for

{asked}
"""


class Choice(plan_reader.AnswerForm):
    """A choice, as an agent writes it."""

    winner: int
    text: Annotated[str, Field(min_length=1, max_length=CHOICE_CHARS), _CLEANED]


def read_choice(text: str, rivals: Sequence[Task], green: Sequence[Task]) -> Choice:
    """Return the choice that an agent made; `green` can be chosen."""
    found = plan_reader.read_form(text, Choice, CHOICE.answer, ANSWER_FAULTS)
    numbers = [task.number for task in green]
    if found.winner not in numbers:
        known = any(task.number == found.winner for task in rivals)
        why = "is not green in CI" if known else "is not one of the rivals"
        there = ", ".join(map(str, numbers))
        raise Unfit(f"Task {found.winner} {why}: choose one of {there}.")
    return found


def choice_brief(question: Question) -> str:
    """Return what a judge is told beside its own task; each rival has its patch."""
    found = rivals_left(question.convoy, question.task)
    if not found:
        return ""
    first, fence = found[0].spec, fence_of(question.session)
    parts = [
        _CHOICE_BRIEF.format(
            numbers=", ".join(str(task.number) for task in found),
            asked_for=answer_asked_for("your choice", Choice),
            asked=fenced(clean(f"{first.title}\n\n{first.instructions}"), fence),
        )
    ]
    most = DIFFS_CHARS // len(found)
    for number, work in ((task.number, task.work) for task in found if task.work):
        diff = question.repository.diff(work.base, work.commit, most)
        is_cut = " (only the beginning)" if len(diff) > most else ""
        parts.append(f"## What task {number} changed{is_cut}\n")
        parts.append(fenced(clean(cut(diff, most)), fence) + "\n")
    return "\n".join(parts)


def _take_choice(reply: Reply) -> Taken:
    convoy, task = reply.convoy, reply.task
    found = read_choice(reply.text, rivals(convoy, task), rivals_left(convoy, task))
    head = f"**Task {task.number} ({inline(task.spec.title)})** chose task "
    said = (f"{head}{found.winner}:", "", *harmless(found.text))
    return Taken(
        command=reply.ends_in(MakeChoice, on=found.winner, text=found.text),
        said=reply.answer(CHOICE, "\n".join(said)),
    )


NO_PLAN: Final = "the engine made no plan"


def _ask_plan(question: Question) -> str:
    settings = question.convoy.settings
    survey = question.repository.surveyed(question.convoy.base)
    engines = {
        name: plan_reader.strength(question.state, engine)
        for name, engine in settings.engines.items()
    }
    return plan_brief(survey, engines, settings.tasks, fence_of(question.session))


def _take_plan(reply: Reply) -> Taken:
    convoy, repository = reply.convoy, reply.repository
    house = plan_reader.House(
        files=repository.files(convoy.base),
        engines=convoy.settings.engines,
        limit=convoy.settings.tasks,
        text=repository.text(convoy.base),
    )
    tasks = plan_reader.read_plan(reply.text, house, convoy.next_number)
    return Taken(
        command=PlanConvoy(
            convoy=convoy.name,
            planner=f"engine {convoy.settings.planner}",
            tasks=tasks,
            attempt=reply.attempt.number,
            usage=reply.usage,
            scopes=repository.scopes(convoy.base, tasks),
            warnings=plan_reader.imports_beside(tasks, house),
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


def plan_brief(
    survey: Survey, engines: Mapping[str, str], limit: int, fence: str
) -> str:
    """Return the planning task's instructions, in Markdown.

    The survey's names are data, and fenced; `engines` says what each is good at.
    """
    named = "\n".join(f"  - `{name}` {good}" for name, good in sorted(engines.items()))
    form = answer_asked_for("the plan", plan_reader.PlanAnswer, FILE)
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


ANSWERS: Final = {
    PLAN.answer: Answering(NO_PLAN, _ask_plan, _take_plan),
    REPORT.answer: Answering(
        "the engine wrote no report",
        lambda asked: report_brief(kind_of(asked.task.spec)),
        _take_report,
    ),
    REVIEW.answer: Answering("the engine wrote no review", review_brief, _take_review),
    CHOICE.answer: Answering("the engine made no choice", choice_brief, _take_choice),
}
"""By the `answer` of a kind of task."""
