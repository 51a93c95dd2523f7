"""Whether a project's own tests still pass on what a way made of a file."""

import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.conflict_corpus.conflicting_merges import (
    ConflictFile,
    ConflictingMerge,
)
from benchmarks.conflict_corpus.merging_ways import Way
from grite import git

DEADLINE_S: float = 120.0
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_PASSED = re.compile(r"\b\d+ passed\b")
_PYTEST = ("pytest", "-q", "-rfE", "-c", "/dev/null", "-p", "no:cacheprovider")


def outcomes(
    merges: Iterable[ConflictingMerge],
    scratch: Path,
    tests: tuple[str, ...],
    ways: Mapping[str, Way],
    libraries: Path | None = None,
) -> Counter[str]:
    """Count, by way, what became of the Python files that it resolved.

    Each is put by itself in the place of the file that people committed. Tests that
    fail on what people committed count against nobody. Where no test passes there, the
    file is counted as not judged.

    Args:
        merges: of one history.
        scratch: a repository that has their commits.
        tests: what pytest is told.
        ways: those to be tried.
        libraries: a folder of what the project imports, before this environment's.
    """
    told: Counter[str] = Counter()
    for merge in merges:
        made = [*_resolved(merge, ways)]
        told.update(f"{name}: equal" for name, file, text in made if _equal(file, text))
        differ = [each for each in made if not _equal(*each[1:])]
        if differ:
            with tempfile.TemporaryDirectory(prefix="brat-tested-") as folder:
                place = Path(folder)
                _checked_out(scratch, merge.commit, place)
                told.update(_compared(place, differ, tests, libraries))
    return told


_Made = tuple[str, ConflictFile, bytes]


def _resolved(merge: ConflictingMerge, ways: Mapping[str, Way]) -> Iterator[_Made]:
    for file in merge.files:
        for name, way in ways.items():
            if not file.path.endswith(".py") or file.committed is None:
                continue
            if (text := way(file)) is not None:
                yield name, file, text


def _equal(file: ConflictFile, text: bytes) -> bool:
    return text == file.committed


def _compared(
    place: Path, made: Iterable[_Made], tests: tuple[str, ...], libraries: Path | None
) -> Counter[str]:
    before = _failing(place, tests, libraries)
    results: dict[tuple[str, bytes], str] = {}
    told: Counter[str] = Counter()
    for name, file, text in made:
        if (file.path, text) not in results:
            (place / file.path).write_bytes(text)
            results[file.path, text] = _result(before, place, tests, libraries)
            (place / file.path).write_bytes(file.committed or b"")
        told[f"{name}: {results[file.path, text]}"] += 1
    return told


def _result(
    before: set[str] | None,
    place: Path,
    tests: tuple[str, ...],
    libraries: Path | None,
) -> str:
    if before is None:
        return "not judged"
    after = _failing(place, tests, libraries)
    return "tests break" if after is None or after - before else "tests pass"


def _checked_out(scratch: Path, commit: str, place: Path) -> None:
    packed = git.run(["archive", commit], cwd=scratch).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(place, filter="data")


def _failing(
    place: Path, tests: tuple[str, ...], libraries: Path | None
) -> set[str] | None:
    """Return the tests that fail; None where none passes."""
    argv = [sys.executable, "-B", "-m", *_PYTEST, f"--rootdir={place}", *tests]
    folders = [place / "src", place, *([libraries] if libraries else [])]
    env = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": ":".join(map(str, folders)),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    try:
        done = subprocess.run(
            argv,
            cwd=place,
            env=env,
            check=False,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )
    except subprocess.TimeoutExpired:
        return None
    return {*_FAILED.findall(done.stdout)} if _PASSED.search(done.stdout) else None
