"""`brat cost`: a column is one row of `COLUMNS`, for people and for programs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from rich.table import Table
from rich.text import Text

from brat.status.list_tables import plain_table
from brat.status.status_screen import one_line
from convoy.model.session_result import cost_foreseen, usage_in_words
from convoy.model.state import Convoy, Task
from convoy.views import SCHEMA_VERSION


def _nothing(_: Convoy) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One fact about each task that sessions worked on."""

    title: str
    """The head of the column."""
    shown: Callable[[Task], str]
    fields: Callable[[Task], dict[str, Any]]
    """The column's fields for programs; docs/status.md describes every field."""
    in_all: Callable[[Convoy], str] = _nothing
    """The column's text in a convoy's last line."""
    estimate: Callable[[Convoy], str] = _nothing
    """The column's text in the line of the estimate, if there is one."""


COLUMNS: Final = (
    Column(
        title="task",
        shown=lambda task: f"{task.number} {one_line(task.spec.title)}",
        fields=lambda task: {"number": task.number, "title": task.spec.title},
        in_all=lambda _: "in all",
        estimate=lambda _: "estimate",
    ),
    Column(
        title="tries",
        shown=lambda task: str(task.started or ""),
        fields=lambda task: {"attempts": task.started},
    ),
    Column(
        title="minutes",
        shown=lambda task: f"{task.worked_ms / 60_000:.1f}",
        fields=lambda task: {"worked_s": task.worked_ms / 1000},
    ),
    Column(
        title="used",
        shown=lambda task: usage_in_words(task.used),
        fields=lambda task: {"usage": msgspec.to_builtins(task.used)},
        in_all=lambda convoy: usage_in_words(convoy.used) or "not said",
        estimate=lambda convoy: cost_foreseen(convoy.estimate),
    ),
)


def cost_table(convoys: Iterable[Convoy]) -> Table:
    """Return a table of what each task's sessions used, with a sum for each convoy."""
    table = plain_table("convoy", *(column.title for column in COLUMNS))
    for convoy in convoys:
        rows = [[column.shown(task) for column in COLUMNS] for task in convoy.spenders]
        rows.append([column.in_all(convoy) for column in COLUMNS])
        if convoy.estimate is not None:
            rows.append([column.estimate(convoy) for column in COLUMNS])
        for row in rows:
            table.add_row(convoy.name, *map(Text, row))
    return table


def cost_document(convoys: Iterable[Convoy]) -> dict[str, Any]:
    """Return what `brat cost --json` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "convoys": [
            {
                "name": convoy.name,
                "usage": msgspec.to_builtins(convoy.used),
                "estimate": msgspec.to_builtins(convoy.estimate),
                "tasks": [_task(task) for task in convoy.spenders],
            }
            for convoy in convoys
        ],
    }


def _task(task: Task) -> dict[str, Any]:
    return {name: value for one in COLUMNS for name, value in one.fields(task).items()}
