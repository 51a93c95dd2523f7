"""The lists of convoys, sessions and merge queues, as tables for terminals."""

from rich import box
from rich.table import Table
from rich.text import Text

from brat.status.status_screen import SHORT, one_line
from convoy.model import ids
from convoy.model.state import State
from convoy.rules.landing import waiting_to_merge
from convoy.text import clock
from convoy.views.reasons import waits_for


def convoys_table(state: State) -> Table:
    """Return all convoys, a row each."""
    table = plain_table("convoy", "state", "issue", "tasks", "merged", "pull")
    for convoy in state.convoys.values():
        merged = sum(task.state == "merged" for task in convoy.tasks)
        pull = f"#{convoy.pull}" if convoy.pull else ""
        table.add_row(
            convoy.name,
            convoy.state,
            f"#{convoy.issue}",
            str(len(convoy.tasks)),
            str(merged),
            pull,
        )
    return table


def sessions_table(state: State) -> Table:
    """Return the sessions that have not ended, a row each."""
    table = plain_table("session", "engine", "run", "since", "task")
    for convoy, task in state.running():
        attempt = task.attempt
        table.add_row(
            ids.session_name(convoy.name, task.number, task.started),
            task.spec.engine,
            str((attempt and attempt.run) or ""),
            clock(attempt.at) if attempt else "",
            Text(one_line(task.spec.title)),
        )
    return table


def queue_table(state: State) -> Table:
    """Return the merge queues of all live convoys, in the order of landing."""
    table = plain_table("convoy", "place", "task", "pull", "candidate", "waits for")
    for convoy in state.live():
        for place, task in enumerate(waiting_to_merge(convoy), 1):
            table.add_row(
                convoy.name,
                str(place),
                Text(f"{task.number} {one_line(task.spec.title)}"),
                f"#{task.pull}" if task.pull else "",
                task.candidate.commit[:SHORT] if task.candidate else "",
                Text(one_line(waits_for(convoy, task))),
            )
    return table


def plain_table(*columns: str) -> Table:
    """Return an empty table with these heads."""
    table = Table(box=box.SIMPLE)
    for column in columns:
        table.add_column(column, no_wrap=True, overflow="ellipsis")
    return table
