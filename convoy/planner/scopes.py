"""How much of the repository each task of a plan is about. Pure."""

from collections.abc import Iterable, Iterator
from posixpath import basename

from convoy.model.records import Scope, TaskSpec
from convoy.planner.ground import Ground
from convoy.planner.together import Past


def scopes(tasks: Iterable[TaskSpec], ground: Ground, past: Past) -> tuple[Scope, ...]:
    """Return the scope of each task that declares paths.

    Args:
        tasks: a plan's.
        ground: the commit that they start from.
        past: the files of each of the last commits.
    """
    changed = [frozenset(files) for files in past]
    found = ((task, frozenset(ground.within(task))) for task in tasks if task.paths)
    return tuple(
        Scope(
            task=task.number,
            files=len(files),
            changes=sum(not files.isdisjoint(commit) for commit in changed),
            creates=tuple(path for path in task.paths if not ground.has(path)),
        )
        for task, files in found
    )


def absent(found: Iterable[Scope], ground: Ground) -> Iterator[str]:
    """Give a remark for each path that does not exist and may be a slip.

    Args:
        found: the scopes of a plan whose paths nobody has checked.
        ground: the commit that they were taken from.
    """
    for scope in found:
        for path in scope.creates:
            same = [file for file in ground.files if basename(file) == basename(path)]
            near = f"; there is {same[0]}" if same else ""
            yield (
                f"task {scope.task} names {path}, which does not exist: the task has "
                f"to make it{near}"
            )
