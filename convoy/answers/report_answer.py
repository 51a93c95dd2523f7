"""Reports: what a session that finds something out is told, and what it answers.

A report is a stranger's text. It is judged by a schema, and by whether the files it
names are there; what is wrong is told to the next attempt.
"""

from collections.abc import Collection, Iterator
from functools import partial
from typing import Annotated, Final

from pydantic import Field

from convoy.answers.answer_form import FAULTS, Form, asked_for, parsed, words
from convoy.answers.answering import Answering, Question, Reply, Taken
from convoy.events.forge_actions import Answer
from convoy.kinds import report_kind, scout_kind
from convoy.model import ids
from convoy.model.records import Finding, Report
from convoy.model.state import Convoy, Task
from convoy.planner.ground import Ground
from convoy.rules.end_session import AcceptReport
from convoy.text.escaped_markdown import fitting, harmless, inline
from convoy.text.forge_limits import POST_CHARS
from convoy.text.json_block import Unfit
from convoy.text.plaintext import clean, cut

_HOW: Final = """\
`summary` answers the question in a few sentences. Each finding is one thing that you
saw, with the `paths` that show it: files or folders there are, relative to the top of
the repository. What you could not find out goes into `open`.
"""
FIND_OUT: Final = """\
Find out what the task asks for, and report it; change nothing. Look around in this
folder, a checkout of the repository.
"""
TRY_OUT: Final = """\
This is a scouting attempt: try what the task asks for in this folder, a checkout of
the repository, as far as it takes to know how hard it is, and report what you learned.
Nothing that you change here is ever used.
"""


class Found(Form):
    """One thing that was found out."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    detail: Annotated[str, Field(max_length=2_000)] = ""
    paths: Annotated[tuple[str, ...], Field(max_length=20)] = ()


class Reported(Form):
    """A whole report, as an agent writes it."""

    summary: Annotated[str, Field(min_length=1, max_length=4_000)]
    findings: Annotated[tuple[Found, ...], Field(max_length=30)] = ()
    recommendation: Annotated[str, Field(max_length=2_000)] = ""
    open: Annotated[
        tuple[Annotated[str, Field(max_length=500)], ...], Field(max_length=20)
    ] = ()


def read(text: str, known: Collection[str] | None) -> Report:
    """Return the report that an agent wrote, cleaned.

    Args:
        text: what it wrote, with the report as the last JSON object.
        known: the files and folders (with a slash) that a finding may name; None: any.

    Raises:
        Unfit: it is no report.
    """
    found = parsed(text, Reported, report_kind.KIND.answer)
    if missing := list(_missing(found, known)):
        raise Unfit(" ".join(missing[:FAULTS]))
    report = Report(
        summary=words(found.summary),
        findings=tuple(
            Finding(
                title=" ".join(words(each.title).split()),
                detail=words(each.detail),
                paths=tuple(map(words, each.paths)),
            )
            for each in found.findings
        ),
        recommendation=words(found.recommendation),
        open=tuple(" ".join(words(each).split()) for each in found.open),
    )
    if not report.summary:
        raise Unfit("The report has no summary.")
    return report


def _missing(found: Reported, known: Collection[str] | None) -> Iterator[str]:
    for number, finding in enumerate(found.findings, 1):
        for path in finding.paths:
            there = known is None or path in known or f"{path}/" in known
            if not there:
                yield f'Finding {number}: there is no "{cut(clean(path), 80)}".'


def shown(task: Task, report: Report) -> str:
    """Return a task's report as people read it, in Markdown."""
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
        lines += ["", "**Not found out:**", ""]
        lines += (f"- {' '.join(harmless(each))}" for each in report.open)
    more = f"{{}} lines: `brat task show {task.number} --json`"
    return "\n".join(fitting(lines, more, POST_CHARS - len(more)))


def brief(what: str) -> str:
    """Return what a session that reports is told beside its task, in Markdown."""
    return f"{what}\n{asked_for('it', Reported)}\n{_HOW}"


def _told(what: str, _question: Question) -> str:
    return brief(what)


def _read(reply: Reply) -> Taken:
    """Hold the findings to what the attempt was given."""
    files = reply.repository.files(reply.attempt.base)
    return _taken(reply, read(reply.text, Ground(files=files).known))


def _read_tried(reply: Reply) -> Taken:
    """Let findings name what the attempt made."""
    return _taken(reply, read(reply.text, None))


def _taken(reply: Reply, found: Report) -> Taken:
    convoy, task = reply.convoy, reply.task
    sign = ids.sign_key(report_kind.KIND.name, f"{convoy.name}/{task.number}")
    said = Answer(issue=convoy.issue, sign=sign, text=shown(task, found))
    return Taken(
        command=AcceptReport(
            convoy=convoy.name,
            task=task.number,
            attempt=reply.attempt.number,
            report=found,
            usage=reply.usage,
        ),
        said=None if _is_awaited(convoy, task) else said,
    )


def _is_awaited(convoy: Convoy, task: Task) -> bool:
    """Whether another task waits for it, and is handed what it found out."""
    return any(task.number in other.spec.after for other in convoy.tasks)


REPORT_ANSWER = Answering(
    kind=report_kind.KIND,
    none="the engine gave no report",
    told=partial(_told, FIND_OUT),
    read=_read,
)
SCOUT_ANSWER = Answering(
    kind=scout_kind.KIND,
    none="the engine gave no report",
    told=partial(_told, TRY_OUT),
    read=_read_tried,
)
