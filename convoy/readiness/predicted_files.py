"""Which files a task will probably touch that declares none and has shown none. Pure.

Where work of a convoy conflicted in a file that most of its tasks touch, the next task
will touch it, too. To start it at once would be paid for twice.
"""

from typing import Final

from convoy.model.state import Convoy

SEEN_LEAST: Final = 2
"""How many tasks must have shown which files they touch."""


def predicted_files(convoy: Convoy) -> frozenset[str]:
    """Return the files that works conflicted in and that at least half of them touch.

    Files that many touch without conflicts, such as one with a merge driver of its own,
    hold nobody up.
    """
    seen = [frozenset(task.touched) for task in convoy.tasks if task.touched]
    if len(seen) < SEEN_LEAST:
        return frozenset()
    return frozenset(
        path
        for path in convoy.contested
        if 2 * sum(path in files for files in seen) >= len(seen)
    )
