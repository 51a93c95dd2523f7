"""Reads an attempt's commits against its base, and judges whether they may land.

Each commit is examined, not only the last: where commits land one by one, a file that
one commit adds and the next removes would land all the same. Sizes are checked before
contents are read: a file that compresses well may be small in a bundle and endless as a
patch.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from bot.repository.commit_range import CommitRange, TooMuch, Touched
from convoy import gate
from convoy.gate.leaks import leaks
from convoy.model.records import Settings
from grite import git

FILE_BYTES: Final = 50_000_000
_WORKFLOWS: Final = (".github/workflows/**",)
FILES_BYTES: Final = 200_000_000
"""The limit for all changed files together, counted after each commit."""


class Patch(Struct, frozen=True, kw_only=True):
    """What the attempt changes, and the gate's judgement."""

    files: tuple[str, ...]
    """The changed paths, in printable form."""
    refusals: tuple[str, ...]
    """The reasons why the work may not land, one sentence each; empty: it may."""
    keeps: bool = True
    """Whether refused work can still be kept: it is not too large, the forge takes it,
    and it shows no apparent secret. GitHub rejects a commit that touches a workflow if
    the pusher may not write workflows."""
    is_large: bool = False
    """Whether the work is refused for its size."""


def examined(repository: Path, base: str, commit: str, settings: Settings) -> Patch:
    """Return what `base..commit` changes and the gate's judgement on it.

    Raises:
        GitFailed: `base` or `commit` is not a commit in the repository.
        Unavailable: examining the work takes too long.
    """
    files: tuple[str, ...] = ()
    try:
        stretch = CommitRange(repository)
        whole = stretch.whole(base, commit)
        files = tuple(sorted(gate.printable(each.change.path) for each in whole))
        if not whole:
            return Patch(files=(), refusals=("The work changes nothing.",))
        steps = stretch.steps(base, commit)
    except TooMuch as error:
        return Patch(files=files, refusals=(str(error),), keeps=False, is_large=True)
    sizes = _sizes(repository, (*whole, *steps))
    if said := _too_large(sizes):
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
        limits, largest = settings.limits, _largest(sizes)
        refusals = gate.refusals(changes, len(patch), settings.gate, limits, largest)
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


def _too_large(sizes: Mapping[str, int]) -> str:
    """Return why files of these sizes are too large; empty: they are not."""
    if max(sizes.values(), default=0) > FILE_BYTES:
        return f"The patch has {_largest(sizes)}; {FILE_BYTES} are allowed."
    if (all_bytes := sum(sizes.values())) > FILES_BYTES:
        most = f"most of them in {_largest(sizes)}"
        return f"The work has {all_bytes} bytes, {most}; {FILES_BYTES} are allowed."
    return ""


def _largest(sizes: Mapping[str, int]) -> str:
    """Return the largest file in words; empty: there is none."""
    path = max(sizes, key=lambda one: sizes[one], default="")
    return gate.file_and_size(path, sizes[path]) if path else ""


def _sizes(repository: Path, touched: Iterable[Touched]) -> dict[str, int]:
    """Return the files' new sizes in bytes, by path; of a path's blobs the largest."""
    paths = {each.blob: each.change.path for each in touched if each.blob}
    asked = "".join(f"{blob}\n" for blob in paths).encode()
    args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"]
    said = git.run(args, cwd=repository, stdin=asked).stdout.decode()
    found: dict[str, int] = {}
    for line in said.splitlines():
        blob, _, size = line.partition(" ")
        if size.isdigit():
            path = paths[blob]
            found[path] = max(found.get(path, 0), int(size))
    return found


_PATCH: Final = ("diff-tree", "-r", "--no-renames", "--patch", "--binary", "--root")


def _patch(repository: Path, base: str, commit: str) -> bytes:
    return git.run([*_PATCH, base, commit], cwd=repository).stdout


def _patches(repository: Path, base: str, commit: str) -> bytes:
    """Return the patch of each commit in the range; empty if there is only one."""
    listed = ["rev-list", commit, f"^{base}"]
    steps = git.run(listed, cwd=repository).stdout
    if steps.count(b"\n") < 2:  # noqa: PLR2004  a single commit is the whole patch
        return b""
    args = [*_PATCH, "--stdin", "-m"]
    return git.run(args, cwd=repository, stdin=steps).stdout
