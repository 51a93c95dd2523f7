"""The ways to resolve a file's conflict by a program alone."""

import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from shutil import which
from types import MappingProxyType
from typing import Final

from benchmarks.conflict_corpus.conflict_hunks import merge_file, refined
from benchmarks.conflict_corpus.conflicting_merges import ConflictFile
from benchmarks.conflict_corpus.hunk_refinements import (
    adjacent_lines,
    both_additions,
    both_imports,
    separate_words,
)

Way = Callable[[ConflictFile], bytes | None]
"""The file as it would be, None where the conflict stays."""

MERGIRAF: Final = "mergiraf"
"""A program people install: `cargo install mergiraf --locked`, https://mergiraf.org."""
_MARK: Final = b"<<<<<<< "
DEADLINE_S: Final = 60.0
_LOGS: Final = ("change", "changelog", "history", "news", "release", "authors")


def attributes(driver: str | None) -> Way:
    """Return what git does where .gitattributes names one of its own drivers."""
    return _union if driver == "union" else _conflict


def _union(file: ConflictFile) -> bytes | None:
    text, clean = merge_file(file, "--union")
    return text if clean else None


def _conflict(_: ConflictFile) -> bytes | None:
    return None


def is_changelog(path: str) -> bool:
    """Tell whether a file is a list that grows, by its name or its folder's."""
    name, *folders = reversed(PurePosixPath(path.lower()).parts)
    if name.endswith((".py", ".js", ".c", ".h", ".go", ".rs", ".java", ".rb")):
        return False
    return name.startswith(_LOGS) or any(each.startswith(_LOGS) for each in folders)


def _changelog(file: ConflictFile) -> bytes | None:
    return refined(file, both_additions) if is_changelog(file.path) else None


def _cheap(file: ConflictFile) -> bytes | None:
    more = (both_additions,) if is_changelog(file.path) else ()
    return refined(file, adjacent_lines, both_imports, *more)


@lru_cache(maxsize=1)
def mergiraf(program: str, file: ConflictFile) -> bytes | None:
    """Return what mergiraf makes of a file, None where conflicts stay.

    It ends with 1 then, but not always.

    https://mergiraf.org/usage.html
    """
    with tempfile.TemporaryDirectory(prefix="brat-mergiraf-") as folder:
        sides = {"base": file.base, "ours": file.ours, "theirs": file.theirs}
        for name, text in sides.items():
            (Path(folder) / name).write_bytes(text)
        argv = [program, "merge", "-t", "0", *sides, "-p", file.path, "-o", "merged"]
        try:
            done = subprocess.run(
                argv, cwd=folder, check=False, capture_output=True, timeout=DEADLINE_S
            )
        except subprocess.TimeoutExpired:
            return None
        made = (Path(folder) / "merged").read_bytes() if done.returncode == 0 else b""
    return None if done.returncode or _is_marked(file, made) else made


def _is_marked(file: ConflictFile, made: bytes) -> bool:
    """Tell whether markers are left, which mergiraf 0.20.0 may call a clean merge.

    Seen where a side has no line break at its end: the marker ends its last line.
    """
    return made.count(_MARK) > max(file.ours.count(_MARK), file.theirs.count(_MARK))


def _structure_then_cheap(program: str, file: ConflictFile) -> bytes | None:
    made = mergiraf(program, file)
    return made if made is not None else _cheap(file)


def ways() -> Mapping[str, Way]:
    """Return every way by its name; mergiraf's only where it is installed."""
    found: dict[str, Way] = {
        "union everywhere": _union,
        "union of changelogs": _changelog,
        "union of imports": partial(_refine, both_imports),
        "adjacent lines": partial(_refine, adjacent_lines),
        "separate words": partial(_refine, separate_words),
        "cheap": _cheap,
    }
    if program := which(MERGIRAF):
        found[MERGIRAF] = partial(mergiraf, program)
        found["mergiraf, then cheap"] = partial(_structure_then_cheap, program)
    return MappingProxyType(found)


def _refine(way: Callable[..., bytes | None], file: ConflictFile) -> bytes | None:
    return refined(file, way)
