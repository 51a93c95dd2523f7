"""The lists that words of their own print, as tables for terminals."""

from rich import box
from rich.table import Table
from rich.text import Text

from brat.status.screen import SHORT, one_line
from convoy import ids
from convoy.queue import waiting_to_merge
from convoy.state import Convoy, State
from convoy.told.reasons import clock, waits_for
from convoy.told.spending import foreseen, spenders, spoken, used


def convoys_table(state: State) -> Table:
    """Return all convoys, a row each."""
    table = _plain("convoy", "state", "issue", "tasks", "merged", "pull")
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
    table = _plain("session", "engine", "run", "since", "task")
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
    table = _plain("convoy", "place", "task", "pull", "candidate", "waits for")
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


def cost_table(convoys: tuple[Convoy, ...]) -> Table:
    """Return what each task's sessions used, and below them what their convoy's did."""
    table = _plain("convoy", "task", "tries", "minutes", "used")
    for convoy in convoys:
        for task in spenders(convoy):
            table.add_row(
                convoy.name,
                Text(f"{task.number} {one_line(task.spec.title)}"),
                str(task.started or ""),
                f"{task.worked_ms / 60_000:.1f}",
                spoken(task.used),
            )
        table.add_row(convoy.name, "in all", "", "", spoken(used(convoy)) or "not said")
        if about := foreseen(convoy):
            table.add_row(convoy.name, "estimate", "", "", about)
    return table


def _plain(*columns: str) -> Table:
    table = Table(box=box.SIMPLE)
    for column in columns:
        table.add_column(column, no_wrap=True, overflow="ellipsis")
    return table
