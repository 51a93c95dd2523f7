"""States as tables and as JSON, for terminals and programs."""

from typing import Any, Final

from rich import box
from rich.table import Table
from rich.text import Text

from convoy import ids
from convoy.reasons import waits_for
from convoy.state import Convoy, State, Task

_STYLES: Final = {
    "queued": "dim",
    "running": "cyan",
    "needs-review": "yellow",
    "merged": "green",
    "blocked": "red",
    "dropped": "dim red",
}
SCHEMA_VERSION: Final = 1
SHORT: Final = 10
"""Digits of a commit that people are shown."""


def convoy_table(convoy: Convoy) -> Table:
    """Return a convoy's tasks as a table; readable without colour."""
    title = f"{convoy.name}: {convoy.state}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("task", no_wrap=True, overflow="ellipsis", min_width=24)
    table.add_column("state", no_wrap=True, min_width=len("needs-review"))
    table.add_column("tries", no_wrap=True, min_width=len("tries"))
    table.add_column("pull", no_wrap=True, min_width=len("pull"))
    table.add_column("landed as", no_wrap=True, min_width=SHORT)
    table.add_column("waits for", no_wrap=True, overflow="ellipsis", max_width=48)
    for task in convoy.tasks:
        table.add_row(
            Text(f"{task.number} {task.spec.title}"),
            Text(task.state, style=_STYLES[task.state]),
            str(task.started or ""),
            f"#{task.pull}" if task.pull else "",
            (task.landed or "")[:SHORT],
            Text(" ".join(waits_for(convoy, task).split())),
        )
    return table


def task_document(convoy: Convoy, task: Task) -> dict[str, Any]:
    """Return what `--json` says of a task."""
    return {
        "number": task.number,
        "title": task.spec.title,
        "state": task.state,
        "attempts": task.started,
        "branch": ids.task_branch(convoy.name, task.number),
        "pull_request": task.pull,
        "landed_commit": task.landed,
        "why": task.why,
    }


def convoy_document(convoy: Convoy) -> dict[str, Any]:
    """Return what `--json` says of a convoy."""
    return {
        "name": convoy.name,
        "issue": convoy.issue,
        "state": convoy.state,
        "why": convoy.why,
        "pull_request": convoy.pull,
        "landed_commit": convoy.landed,
        "tasks": [task_document(convoy, task) for task in convoy.tasks],
    }


def state_document(state: State) -> dict[str, Any]:
    """Return what `brat status --json` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "wal_head": state.moment.commit or None,
        "convoys": [convoy_document(convoy) for convoy in state.convoys.values()],
    }


def worked_s(convoy: Convoy) -> float:
    """Return how long the convoy's sessions took one after the other, in seconds."""
    return sum(task.worked_ms for task in convoy.tasks) / 1000
