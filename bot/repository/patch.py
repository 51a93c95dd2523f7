"""An attempt's commits against its base, as git has them: what changed, may it land?

Each commit is looked at, not only where they lead: what one brings and the next takes
away would land all the same where commits land one by one. The size of each file is
looked at before any of it is: a file that compresses well may be small in a bundle and
endless as a patch.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from bot.repository.stretch import Stretch, TooMuch, Touched
from convoy import gate
from convoy.events import Settings
from convoy.leaks import leaks
from grite import git

FILE_BYTES: Final = 50_000_000
_WORKFLOWS: Final = (".github/workflows/**",)
FILES_BYTES: Final = 200_000_000
"""Of all files together, as they are after each commit."""


class Patch(Struct, frozen=True, kw_only=True):
    """What was looked at."""

    files: tuple[str, ...]
    """The paths that changed, fit to be shown."""
    refusals: tuple[str, ...]
    """Why it may not land, a sentence each; empty: it may."""
    keeps: bool = True
    """Whether it can be kept all the same: it is not too large, and the forge takes it.
    GitHub takes no commit that touches a workflow from who may not write workflows. And
    what looks like a secret is shown to nobody."""
    is_large: bool = False
    """Whether it is refused for its size."""


def examined(repository: Path, base: str, commit: str, settings: Settings) -> Patch:
    """Return what `base..commit` changes and what the gate says of it.

    Raises:
        GitFailed: one of them is no commit here.
        Unavailable: it takes too long to be looked at.
    """
    files: tuple[str, ...] = ()
    try:
        stretch = Stretch(repository)
        whole = stretch.whole(base, commit)
        files = tuple(sorted(gate.printable(each.change.path) for each in whole))
        if not whole:
            return Patch(files=(), refusals=("The work changes nothing.",))
        steps = stretch.steps(base, commit)
    except TooMuch as error:
        return Patch(files=files, refusals=(str(error),), keeps=False, is_large=True)
    if said := _too_large(_sizes(repository, (*whole, *steps))):
        return Patch(files=files, refusals=(said,), keeps=False, is_large=True)
    changes = [each.change for each in whole]
    lasting = {(each.path, each.mode_after) for each in changes}
    between = {
        each.change
        for each in steps
        if (each.change.path, each.change.mode_after) not in lasting
    }
    refusals = (
        *gate.refusals(changes, 0, settings.gate, settings.limits),
        *gate.passing(sorted(between), settings.gate),
    )
    patch = _patch(repository, base, commit)
    is_large = len(changes) > settings.limits.patch_files
    if not refusals:
        refusals = gate.refusals(changes, len(patch), settings.gate, settings.limits)
        is_large = bool(refusals)
    told = leaks("The patch", patch, settings.gate) or leaks(
        "A commit in between", _patches(repository, base, commit), settings.gate
    )
    keeps = not (told or _has_workflow(steps))
    refusals = (*refusals, *told)
    return Patch(files=files, refusals=refusals, keeps=keeps, is_large=is_large)


def _has_workflow(steps: Iterable[Touched]) -> bool:
    paths = {each.change.path for each in steps}
    return any(gate.is_matched(path, _WORKFLOWS, any_case=True) for path in paths)


def _too_large(sizes: Collection[int]) -> str:
    """Return why files of these sizes are too much; empty: they are not."""
    if (largest := max(sizes, default=0)) > FILE_BYTES:
        return f"The patch has a file of {largest} bytes; {FILE_BYTES} are allowed."
    if (all_bytes := sum(sizes)) > FILES_BYTES:
        return f"The work's files have {all_bytes} bytes; {FILES_BYTES} are allowed."
    return ""


def _sizes(repository: Path, touched: Iterable[Touched]) -> list[int]:
    """Return the sizes of the files as they are afterwards, in bytes."""
    blobs = {each.blob for each in touched if each.blob}
    asked = "".join(f"{blob}\n" for blob in blobs).encode()
    args = ["cat-file", "--batch-check=%(objectsize)"]
    said = git.run(args, cwd=repository, stdin=asked).stdout
    return [int(line) for line in said.split() if line.isdigit()]


_PATCH: Final = ("diff-tree", "-r", "--no-renames", "--patch", "--binary", "--root")


def _patch(repository: Path, base: str, commit: str) -> bytes:
    return git.run([*_PATCH, base, commit], cwd=repository).stdout


def _patches(repository: Path, base: str, commit: str) -> bytes:
    """Return what each commit on the way changes; nothing where there is but one."""
    listed = ["rev-list", commit, f"^{base}"]
    steps = git.run(listed, cwd=repository).stdout
    if steps.count(b"\n") < 2:  # noqa: PLR2004  where there is one step, it is the way
        return b""
    args = [*_PATCH, "--stdin", "-m"]
    return git.run(args, cwd=repository, stdin=steps).stdout
