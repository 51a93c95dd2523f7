"""The scripted model's work in the demo: the sample's patches, by a CLI's tools.

Task 4's first fix is wrong. Tasks 6 and 7 write to the same place of the changelog, so
that the second to land conflicts; its next attempt keeps both entries. No machine is
lost here, because the CLI is real.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.world.vendor.script import Case, Patch, Run, Script

_PROJECT: Final = Path(__file__).parents[2] / "examples/demo-project/project"
_TASKS: Final = range(1, 8)
_WRONG: Final = 4
_ENTRIES: Final = {
    6: "- Fixed: a name with a line break made two entries in the audit log.",
    7: "- Fixed: the API documents left out the role editor.",
}
_NOTE: Final = """\
--- a/CHANGELOG.md
+++ b/CHANGELOG.md
@@ -5,1 +5,3 @@
 ## Unreleased
+
+{entry}
"""
_CONFLICT: Final = "## Your task's work conflicts"
"""How a prompt begins to tell of a conflict."""
_KEEP_BOTH: Final = (
    "sed -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' CHANGELOG.md > both && "
    "mv both CHANGELOG.md"
)
_GONE: Final = """\
--- a/known_bugs/{name}
+++ /dev/null
@@ -1 +0,0 @@
-{line}
"""


def script(ci_command: str) -> Script:
    """Return the model's script; the model checks its work with the project's tests."""
    return Script(cases=tuple(_cases(Run(command=ci_command))))


def _cases(look: Run) -> Iterator[Case]:
    """Yield a case for each task, recognised by the first line of the task's prompt."""
    for task in _TASKS:
        named = f"# Task {task} of convoy"
        if task == _WRONG:
            wrong = _fix(task, f"{task}-wrong")
            yield _case((named, ", attempt 1\n"), wrong, look)
        if task in _ENTRIES:
            yield _case((named, _CONFLICT), Run(command=_KEEP_BOTH), look)
        yield _case((named,), _fix(task, str(task)), look)


def _case(when: tuple[str, ...], fix: Patch | Run, look: Run) -> Case:
    closing = "The bug is fixed.\n\nBRAT: done. Fixed the bug and ran the tests."
    return Case(when=when, steps=(fix, look), closing=closing)


def _fix(task: int, name: str) -> Patch:
    patch = (_PROJECT / f".brat/patches/{name}.patch").read_text(encoding="utf-8")
    entry = _ENTRIES.get(task)
    note = _NOTE.format(entry=entry) if entry else ""
    return Patch(diff=patch + _gone(task) + note)


def _gone(task: int) -> str:
    (bug,) = (
        each
        for each in (_PROJECT / "known_bugs").iterdir()
        if each.name.startswith(f"{task}-")
    )
    return _GONE.format(name=bug.name, line=bug.read_text(encoding="utf-8").strip())
