"""The text of a convoy's own pull request: what a reviewer needs, the riskiest first.

Pure. All in it that others wrote is made harmless.
"""

from collections.abc import Iterator
from typing import Final

from bot.comment import fitting, inline
from convoy import ids
from convoy.state import Convoy, Task
from convoy.told.review import Risk, files_of, landings, risks, untested

_SHORT: Final = 10
_ROWS_CHARS: Final = 40_000
_LIST_CHARS: Final = 10_000
_FILES: Final = 10
"""Files that are named of one task."""


def packet(convoy: Convoy, web: str = "", dashboard: str = "") -> str:
    """Return the text as Markdown.

    Args:
        convoy: whose tasks are all merged or dropped.
        web: where the forge shows the repository to people; empty: nowhere.
        dashboard: where the bot's own pages of the repository are; empty: nowhere.
    """
    merged = sum(task.state == "merged" for task in convoy.tasks)
    count = f"{merged} of {len(convoy.tasks)} tasks"
    lines = [
        ids.marker(ids.pull_key(convoy.name, 0)),
        f"Convoy `{convoy.name}` for #{convoy.issue}: {count}, the riskiest first.",
        "",
        "| # | Task | Look at | Change | Accepted because |",
        "|---|---|---|---|---|",
    ]
    between = landings(convoy)
    rows = [
        _row(convoy, task, risk, between.get(task.number), web)
        for risk in risks(convoy)
        if (task := convoy.task(risk.task))
    ]
    lines += fitting(rows, "| | {} | | | |", _ROWS_CHARS)
    lines += [*_gaps(convoy), *_left(convoy), ""]
    page = f"{dashboard}/convoys/{convoy.name}"
    live = f"[How it went]({page}). " if dashboard else ""
    lines.append(f"<sub>{live}`brat report {convoy.name}` draws how it went.</sub>")
    return "\n".join(lines)


def _row(
    convoy: Convoy, task: Task, risk: Risk, between: tuple[str, str] | None, web: str
) -> str:
    look = "; ".join(map(inline, risk.reasons)) or "nothing stands out"
    cells = (
        str(task.number),
        inline(task.spec.title),
        look,
        _change(task, between, web),
        _evidence(convoy, task),
    )
    return f"| {' | '.join(cells)} |"


def _change(task: Task, between: tuple[str, str] | None, web: str) -> str:
    if between is None:
        return "none was needed"
    old, new = (commit[:_SHORT] for commit in between)
    files = len(files_of(task))
    count = f"{files} file{'s' if files != 1 else ''}"
    if not web:
        return f"{count}, `{old}...{new}`"
    return f"[{count}]({web}/compare/{between[0]}...{between[1]})"


def _evidence(convoy: Convoy, task: Task) -> str:
    if task.report is not None:
        return "its report fits what a report must be"
    if task.landed is None:
        return "its agent says that nothing is to be done, and the acceptance passed"
    pull = f", #{task.pull}" if task.pull else ""
    tries = f", attempt {task.started}" if task.started > 1 else ""
    approved = "".join(f", approved by {inline(by)}" for by in task.approved_by)
    judged = "CI was green on" if convoy.settings.require_ci else "judged by nothing:"
    return f"{judged} `{task.landed[:_SHORT]}`{pull}{tries}{approved}"


def _gaps(convoy: Convoy) -> Iterator[str]:
    """Say what changed without a test in the same task: nobody tried that."""
    found = {
        task.number: untested(task)
        for task in convoy.tasks
        if task.state == "merged" and untested(task)
    }
    if not found:
        return
    yield from ("", "**What no test covers**, as far as the changed files tell:", "")
    rows = [
        f"- task {number}: {', '.join(map(inline, files[:_FILES]))}"
        + (f" and {more} more" if (more := len(files) - _FILES) > 0 else "")
        for number, files in found.items()
    ]
    yield from fitting(rows, "- {}", _LIST_CHARS)


def _left(convoy: Convoy) -> Iterator[str]:
    dropped = [task for task in convoy.tasks if task.state == "dropped"]
    if not dropped:
        return
    yield from ("", "**What is not in it:**", "")
    rows = [f"- {inline(task.spec.title)}: {inline(task.why)}" for task in dropped]
    yield from fitting(rows, "- {}", _LIST_CHARS)
