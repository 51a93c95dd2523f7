"""Which approvals a task's work still lacks. Pure.

Who wrote instructions for the work counts, but not alone: somebody else has to look.
Work that changes what judges it needs a person even where no approval is asked for.
"""

from typing import Final

from convoy.model.state import Convoy, Task

ANOTHER: Final = "an approval by somebody who wrote none of its instructions"
_SHOWN: Final = 3


def lacking(convoy: Convoy, task: Task) -> str:
    """Return the approvals that the work lacks, in words; empty: none."""
    wanted = convoy.settings.approvals
    if (short := wanted - len(task.approvals)) > 0:
        return f"{short} more approval{'s' if short > 1 else ''} of its work"
    if wanted and not _is_seen_by_another(task):
        return ANOTHER
    if not task.approvals and (changed := changes_ci(task)):
        return f"an approval of its work, which tells CI what to run: {changed}"
    return ""


def changes_ci(task: Task) -> str:
    """Return the files of its work that tell CI what to run, in words; empty: none."""
    files = task.work.ci_files if task.work is not None else ()
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return ", ".join(files[:_SHOWN]) + more


def _is_seen_by_another(task: Task) -> bool:
    authors = {by.casefold() for by in task.instructed_by}
    return any(each.by.casefold() not in authors for each in task.approvals)
