"""What the demo says at its end: who did what, what went wrong, and where to look."""

from pathlib import Path

from brat.tables import worked_s
from convoy import ids
from convoy.state import Convoy, Task


def lines(bare: Path, convoy: Convoy, wall_s: float, kills: int) -> list[str]:
    """Return the summary, a line each."""
    said = ["", f"convoy {convoy.name}: {convoy.state}", ""]
    said += [_task(convoy, task) for task in convoy.tasks]
    said.append("")
    said += [
        f"task {task.number}, again: {' '.join(note.split())[:110]}"
        for task in convoy.tasks
        for note in task.notes
    ]
    if kills:
        said.append(f"the bot was killed {kills} times; nothing was lost or done twice")
    said += [
        "",
        f"one at a time: {worked_s(convoy):.0f} s, here: {wall_s:.0f} s",
        "the log, with plain git:",
        f"  git -C {bare} log --oneline refs/grite/wal",
        f"  git -C {bare} log --oneline --graph {convoy.target}",
    ]
    return said


def _task(convoy: Convoy, task: Task) -> str:
    tries = f"{task.started} attempt{'s' if task.started != 1 else ''}"
    branch = ids.task_branch(convoy.name, task.number)
    return (
        f"  {task.number} {task.state:7} {tries:10} #{task.pull or '-':<4} "
        f"{(task.landed or '-')[:10]:10} {branch}  {task.spec.title}"
    )
