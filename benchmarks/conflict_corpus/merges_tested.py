"""Whether a project's own tests still pass on what a way made of a merge."""

import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.conflict_corpus.conflicting_merges import ConflictingMerge
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
    """Count, by way, what became of the merges that it resolved wholly.

    Tests that fail on what people committed count against nobody. Merges on whose
    committed files no test passes are only counted.

    Args:
        merges: of one history.
        scratch: a repository that has their commits.
        tests: what pytest is told.
        ways: those to be tried.
        libraries: a folder of what the project imports, before this environment's.
    """
    told: Counter[str] = Counter()
    for merge in merges:
        made = {} if merge.others else _resolved(merge, ways)
        if not made:
            continue
        with tempfile.TemporaryDirectory(prefix="brat-tested-") as folder:
            place = Path(folder)
            _checked_out(scratch, merge.commit, place)
            told.update(_compared(merge, place, tests, made, libraries))
    return told


_Resolution = tuple[bytes, ...]


def _resolved(
    merge: ConflictingMerge, ways: Mapping[str, Way]
) -> dict[str, _Resolution]:
    found: dict[str, _Resolution] = {}
    for name, way in ways.items():
        texts = [text for file in merge.files if (text := way(file)) is not None]
        if len(texts) == len(merge.files):
            found[name] = tuple(texts)
    return found


def _compared(
    merge: ConflictingMerge,
    place: Path,
    tests: tuple[str, ...],
    made: Mapping[str, _Resolution],
    libraries: Path | None,
) -> Counter[str]:
    results = {tuple(file.committed for file in merge.files): "equal"}
    differs = results.keys() < {*results, *made.values()}
    before = _failing(place, tests, libraries) if differs else set()
    if before is None:
        return Counter(["no test passes on what people committed"])
    for texts in made.values():
        if texts in results:
            continue
        for file, text in zip(merge.files, texts, strict=True):
            (place / file.path).parent.mkdir(parents=True, exist_ok=True)
            (place / file.path).write_bytes(text)
        after = _failing(place, tests, libraries)
        broken = after is None or after - before
        results[texts] = "tests break" if broken else "tests pass"
    return Counter(f"{name}: {results[texts]}" for name, texts in made.items())


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
