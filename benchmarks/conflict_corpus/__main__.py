"""`python -m benchmarks.conflict_corpus --histories DIR`: what resolves real conflicts.

DIR holds clones of the projects in recorded_histories.py, with their whole history.
Nothing is written there.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from benchmarks.conflict_corpus.conflicting_merges import (
    ConflictingMerge,
    History,
)
from benchmarks.conflict_corpus.corpus_figures import Figures, counted
from benchmarks.conflict_corpus.corpus_tables import by_project, by_sharing, by_way
from benchmarks.conflict_corpus.merges_tested import outcomes
from benchmarks.conflict_corpus.merging_ways import ways
from benchmarks.conflict_corpus.recorded_histories import RECORDED, Recorded, clone_of
from benchmarks.conflict_corpus.shared_files import SharedFiles, shared_files

MOST: int = 60
"""So many merges of one project count, so that none outweighs the others."""

TESTED: tuple[str, ...] = ("cheap", "mergiraf", "mergiraf, then cheap")


def corpus(
    project: Recorded, clone: Path, most: int, scratch: Path
) -> list[ConflictingMerge]:
    """Return conflicting merges from all over a history; the same each time."""
    history = History(clone, project.head, scratch)
    found = [each for each in history.conflicting(history.merges()) if each.files]
    if len(found) <= most:
        return found
    return Random(0).sample(found, most)  # noqa: S311  the same each time


def _shared(every: Sequence[tuple[Recorded, Path]]) -> None:
    told: dict[str, SharedFiles] = {}
    for project, clone in every:
        with tempfile.TemporaryDirectory(prefix="brat-corpus-") as folder:
            scratch = Path(folder) / "scratch.git"
            told[project.name] = shared_files(History(clone, project.head, scratch))
        print(project.name, file=sys.stderr, flush=True)
    print(*by_sharing(told), sep="\n")


def _told(
    project: Recorded, clone: Path, given: argparse.Namespace
) -> tuple[list[str], Figures]:
    """Print what became of the tests, where asked; return the cases and the figures."""
    with tempfile.TemporaryDirectory(prefix="brat-corpus-") as folder:
        scratch = Path(folder) / "scratch.git"
        merges = corpus(project, clone, given.most, scratch)
        figures = Figures() if given.tests else counted(merges, ways())
        if given.tests:
            tried = {name: ways()[name] for name in TESTED if name in ways()}
            told = outcomes(
                merges[: given.tests], scratch, project.tests, tried, given.libraries
            )
            print(project.name, json.dumps(dict(sorted(told.items())), indent=1))
    print(f"{project.name}: {len(merges)} merges", file=sys.stderr, flush=True)
    return [each.commit for each in merges], figures


def main() -> None:
    """Print what each way made of the conflicts, by project and by way."""
    given = _arguments()
    found = [*_clones(given)]
    if given.shared:
        _shared(found)
        return
    every: dict[str, Figures] = {}
    cases: dict[str, list[str]] = {}
    for project, clone in found:
        if project.tests or not given.tests:
            cases[project.name], every[project.name] = _told(project, clone, given)
    if given.cases:
        given.cases.write_text(json.dumps(cases, indent=1))
    if every and not given.tests:
        print(*by_project(every), "", *by_way(sum(every.values(), Figures())), sep="\n")


def _clones(given: argparse.Namespace) -> Iterator[tuple[Recorded, Path]]:
    for project in RECORDED:
        if given.only and project.name not in given.only:
            continue
        clone = clone_of(project, given.histories)
        if clone:
            yield project, clone
        else:
            print(f"skipped, no clone: {project.name}", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks.conflict_corpus", description=__doc__
    )
    parser.add_argument("--histories", type=Path, required=True, metavar="DIR")
    parser.add_argument("--most", type=int, default=MOST, help="merges of one project")
    parser.add_argument("--only", action="append", help="a project, as owner/name")
    parser.add_argument("--cases", type=Path, help="write the cases' commits there")
    parser.add_argument(
        "--tests",
        type=int,
        default=0,
        metavar="N",
        help="instead, run the tests of N merges of each project that can be tested",
    )
    parser.add_argument(
        "--shared",
        action="store_true",
        help="instead, count how often two sides that share a file conflict",
    )
    parser.add_argument(
        "--libraries",
        type=Path,
        help="a folder of old libraries that the tests import, from pip install -t",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
