"""The demo's closing lines: each task, what went wrong, and how to look at it all."""

from pathlib import Path

from brat.status.status_screen import SHORT
from convoy.model.state import Convoy, Task
from convoy.views import worked_s


def lines(convoy: Convoy, wall_s: float, kills: int) -> list[str]:
    """Return the summary, a line each."""
    said = ["", f"convoy {convoy.name}: {convoy.state}", "", _HEAD]
    said += [_task(task) for task in convoy.tasks]
    said.append("")
    said += [
        f"  task {task.number} was tried again: {_told(note)}"
        for task in convoy.tasks
        for note in task.notes
    ]
    said += [
        f"  task {task.number} is blocked: {_told(task.why)}"
        for task in convoy.tasks
        if task.state == "blocked"
    ]
    if kills:
        said.append(f"  the bot was killed {kills} times")
    alone_s = worked_s(convoy)
    faster = f"one at a time: {alone_s:.0f} s, here: {wall_s:.0f} s"
    return [*said, "", faster if wall_s < alone_s else f"all of it: {wall_s:.0f} s"]


def ways_to_look(bare: Path, convoy: Convoy) -> list[str]:
    """Return how to look at what the demo left, a line each."""
    return [
        "look at the log and the result with plain git, or with brat:",
        f"  git -C {bare} log --stat refs/grite/wal",
        f"  git -C {bare} log --oneline --graph {convoy.target}",
        f"  brat log show --repo {bare}",
    ]


_HEAD = "  #  state   tries  pull  landed as     time  task"


def _task(task: Task) -> str:
    seconds = max(0, task.ended_at - task.begun_at) / 1000
    pull = f"#{task.pull}" if task.pull else "-"
    landed = (task.landed or "-")[:SHORT]
    return (
        f"  {task.number:<2} {task.state:7} {task.started:<6} {pull:5} {landed:10} "
        f"{seconds:5.1f} s  {task.spec.title}"
    )


def _told(note: str) -> str:
    """Return the most telling line of a reason."""
    rows = [" ".join(row.split()) for row in note.splitlines() if row.strip()]
    failed = [row for row in rows if row.startswith("FAILED ")]
    first = rows[0] if rows else ""
    return f"{first.partition(':')[0]}: {failed[0]}" if failed else first
