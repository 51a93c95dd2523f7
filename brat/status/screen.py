"""The state as tables, for terminals; readable without colour."""

from collections.abc import Iterator
from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from convoy import ids
from convoy.queue import waiting_to_merge
from convoy.state import Convoy, State
from convoy.text.plaintext import clean
from convoy.told.interventions import Intervention, interventions
from convoy.told.reasons import clock, waits_for
from convoy.told.spending import foreseen, spenders, spoken, used
from convoy.told.times import saved_s

_STYLES: Final = {
    "queued": "dim",
    "running": "cyan",
    "needs-review": "yellow",
    "merged": "green",
    "blocked": "red",
    "dropped": "dim red",
}
SHORT: Final = 10
"""Digits of a commit that people are shown."""
_WORTH_SAYING_S: Final = 1.0


def state_screen(
    convoys: tuple[Convoy, ...], state: State, now: int, faults: tuple[str, ...] = ()
) -> Group:
    """Return these convoys, and what waits for a person, as one screen."""
    names = {convoy.name for convoy in convoys}
    found = tuple(
        each
        for each in interventions(state, now, faults)
        if each.convoy in names or not each.convoy
    )
    return Group(*_parts(convoys, found))


def _parts(
    convoys: tuple[Convoy, ...], found: tuple[Intervention, ...]
) -> Iterator[RenderableType]:
    for convoy in convoys:
        yield convoy_table(convoy)
        if convoy.why:
            yield Text(f"  {one_line(convoy.why)}\n")
        if (saved := saved_s(convoy)) >= _WORTH_SAYING_S:
            yield Text(f"  side by side saved {saved:.0f} s\n", style="dim")
    if found:
        yield Text("waits for you:")
        for each in found:
            yield from _intervention(each)


def _intervention(found: Intervention) -> Iterator[Text]:
    where = f"{found.convoy} task {found.task}: " if found.convoy else ""
    yield Text(f"  {where}{one_line(found.why)} [{found.kind}]", style="red")
    for command in found.commands:
        yield Text(f"    {command}")


def one_line(text: str) -> str:
    """Return anybody's text as one line that can do nothing to a terminal."""
    return " ".join(clean(text).split())


def convoy_table(convoy: Convoy) -> Table:
    """Return a convoy's tasks as a table."""
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
            Text(f"{task.number} {one_line(task.spec.title)}"),
            Text(task.state, style=_STYLES[task.state]),
            str(task.started or ""),
            f"#{task.pull}" if task.pull else "",
            (task.landed or "")[:SHORT],
            Text(one_line(waits_for(convoy, task))),
        )
    return table


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
