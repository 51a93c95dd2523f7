"""A report as people read it on the issue. Pure; an agent's words, made harmless."""

from collections.abc import Iterator

from bot.comment import LIST_CHARS, fitting, harmless, inline
from convoy.events import Report
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


def _findings(report: Report) -> Iterator[str]:
    for number, finding in enumerate(report.findings, 1):
        where = ", ".join(map(inline, finding.paths))
        yield f"{number}. **{inline(finding.title)}**{f' ({where})' if where else ''}"
        yield from (f"   {line}" for line in harmless(finding.detail) if line)
