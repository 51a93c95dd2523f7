"""A report as people read it on the issue. Pure; an agent's words, made harmless."""

from collections.abc import Iterator

from bot.comment import LIST_CHARS, fitting, harmless, inline
from convoy.events import Opinion, Report, TaskSpec
from convoy.state import Task


def reported(task: Task, report: Report) -> str:
    """Return a task's report as Markdown."""
    lines = [
        f"### Report of task {task.number}: {inline(task.spec.title)}",
        "",
        *harmless(report.summary),
        "",
        *_findings(report),
    ]
    if report.recommendation:
        lines += [
            "",
            "**Recommendation.** " + " ".join(harmless(report.recommendation)),
        ]
    if report.open:
        lines += ["", "**Not found out:**", ""]
        lines += (f"- {' '.join(harmless(each))}" for each in report.open)
    return "\n".join(fitting(lines, "{}", LIST_CHARS))


def reviewed(task: Task, commit: str, verdict: Opinion, text: str) -> str:
    """Return a review's verdict as Markdown."""
    said = {"approve": "approves", "changes": "asks for changes of"}[verdict]
    head = f"**Task {task.number} ({inline(task.spec.title)})** {said} `{commit[:10]}`"
    return "\n".join((f"{head}{':' if text else '.'}", "", *harmless(text)))


def chosen(task: Task, winner: int, text: str) -> str:
    """Return a choice between rivals as Markdown."""
    head = f"**Task {task.number} ({inline(task.spec.title)})** chose task {winner}:"
    return "\n".join((head, "", *harmless(text)))


def split(task: Task, parts: tuple[TaskSpec, ...]) -> str:
    """Return what a task was split into as Markdown."""
    head = f"**Task {task.number} ({inline(task.spec.title)})** was too much for one "
    lines = [f"{head}agent: {inline(task.why)}. It is done in parts:", ""]
    for part in parts:
        after = ", ".join(map(str, part.after))
        where = f" (after {after})" if after else ""
        lines.append(f"- task {part.number}: {inline(part.title)}{where}")
    return "\n".join(fitting(lines, "{}", LIST_CHARS))


def _findings(report: Report) -> Iterator[str]:
    for number, finding in enumerate(report.findings, 1):
        where = ", ".join(map(inline, finding.paths))
        yield f"{number}. **{inline(finding.title)}**{f' ({where})' if where else ''}"
        yield from (f"   {line}" for line in harmless(finding.detail) if line)
