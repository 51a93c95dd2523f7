"""The table of a convoy's tasks, a row each, as Markdown. Pure."""

from collections.abc import Iterable
from typing import Final

from bot.messages.convoy_links import checks_url, run_url
from convoy.model.state import Convoy, Lease, Task
from convoy.text import fitting, inline, spoken_duration
from convoy.views.reasons import waits_for

_BEGIN: Final = ("#", "Task", "State", "Engine", "Attempts", "Worked", "Pull request")
_END: Final = ("Landed as", "Waits for")
_DEFAULT: Final = "default"
_ROWS_CHARS: Final = 36_000


def task_table(convoy: Convoy, leases: Iterable[Lease], web: str) -> list[str]:
    """Return the lines of the table; rows that do not fit are counted.

    Args:
        convoy: the convoy, with tasks.
        leases: those that have not run out.
        web: the repository's web address, for links to runs and checks; empty: no
            links, and no column for checks.
    """
    held = tuple(leases)
    rows = [_line(_cells(convoy, task, held, web)) for task in convoy.tasks]
    more = f"| | {{}}: `brat convoy show {convoy.name}` lists them all |"
    columns = (*_BEGIN, *(("Checks",) if web else ()), *_END)
    return [
        _line(columns),
        "|" + "---|" * len(columns),
        *fitting(rows, more, _ROWS_CHARS),
    ]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(
    convoy: Convoy, task: Task, leases: tuple[Lease, ...], web: str
) -> tuple[str, ...]:
    landed = f"`{task.landed[:10]}`" if task.landed else ""
    if task.number in convoy.parts.tasks:
        landed += f" on {inline(convoy.target)}"
    return (
        str(task.number),
        inline(task.spec.title),
        task.state,
        inline(_engine(convoy, task)),
        _attempts(task, web),
        spoken_duration(task.worked_ms // 1000) if task.worked_ms else "",
        f"#{task.pull}" if task.pull else "",
        *((_checks(task, web),) if web else ()),
        landed,
        inline(waits_for(convoy, task, leases)),
    )


def _engine(convoy: Convoy, task: Task) -> str:
    """Return the engine's name, or what it is where it is only the default."""
    name = task.spec.engine
    known = convoy.settings.engines.get(name)
    return known.type if known is not None and name == _DEFAULT else name


def _checks(task: Task, web: str) -> str:
    """Return a link to what CI says of the task's work; empty: it was not asked."""
    if task.landed:
        return f"[checks]({checks_url(task.landed, web)})"
    if task.candidate:
        return f"[CI was asked]({checks_url(task.candidate.commit, web)})"
    return ""


def _attempts(task: Task, web: str) -> str:
    """Return how many there were, with a link to the newest one's run."""
    if not (web and task.runs):
        return str(task.started)
    return f"[{task.started}]({run_url(task.runs[-1], web)})"
