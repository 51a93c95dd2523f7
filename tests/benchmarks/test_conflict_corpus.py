"""The conflict corpus, on a small made-up history."""

from pathlib import Path

import pytest

from benchmarks.conflict_corpus import conflicting_merges as read
from benchmarks.conflict_corpus.__main__ import corpus
from benchmarks.conflict_corpus.conflict_hunks import ConflictHunk
from benchmarks.conflict_corpus.conflicting_merges import (
    ConflictingMerge,
)
from benchmarks.conflict_corpus.corpus_figures import ATTRIBUTES, Figures, counted
from benchmarks.conflict_corpus.corpus_tables import by_project, by_sharing, by_way
from benchmarks.conflict_corpus.hunk_refinements import (
    adjacent_lines,
    both_imports,
    separate_words,
)
from benchmarks.conflict_corpus.merges_tested import outcomes
from benchmarks.conflict_corpus.merging_ways import ways
from benchmarks.conflict_corpus.recorded_histories import Recorded, clone_of
from benchmarks.conflict_corpus.shared_files import SharedFiles, shared_files
from benchmarks.conflict_corpus.verdicts import Verdict
from tests.bot.history import History

NEWS = "CHANGES.md"
CODE = "calc.py"
LISTED = "names.txt"
Files = dict[str, bytes]
BEGUN: Files = {
    NEWS: b"# Changes\n",
    CODE: b"RATE = 1\n",
    LISTED: b"a\n",
    ".gitattributes": b"names.txt merge=union\n",
    "test_calc.py": b"import calc\n\n\ndef test_it():\n    assert calc.RATE > 1\n",
}


@pytest.fixture
def history(tmp_path: Path) -> History:
    """A project whose merges conflict in turn in the changelog, the code, the list."""
    made = History(tmp_path / "own+calc" / "repo")
    tip = made.commit(BEGUN)
    merged = dict(BEGUN)
    for ours, theirs, people in (
        ({NEWS: b"# Changes\n- one\n"}, {NEWS: b"# Changes\n- two\n"}, None),
        ({CODE: b"RATE = 2\n"}, {CODE: b"RATE = 3\n"}, {CODE: b"RATE = 6\n"}),
        ({LISTED: b"a\nb\n"}, {LISTED: b"a\nc\n"}, {LISTED: b"a\nb\nc\n"}),
        ({"own.txt": b"1\n"}, {"other.txt": b"2\n"}, {}),
    ):
        tip, merged = _merge(made, tip, merged, (ours, theirs, people))
    made.point("refs/heads/main", tip)
    return made


def _merge(
    made: History, tip: str, files: Files, sides: tuple[Files, Files, Files | None]
) -> tuple[str, Files]:
    ours, theirs, people = sides
    people = {NEWS: b"# Changes\n- one\n- two\n"} if people is None else people
    parents = [made.commit({**files, **side}, tip) for side in (ours, theirs)]
    merged = {**files, **ours, **theirs, **people}
    return made.commit(merged, *parents), merged


def _found(history: History, tmp_path: Path) -> list[ConflictingMerge]:
    head = str(history.repo.references["refs/heads/main"].target)
    project = Recorded(name="own/calc", head=head, language="Python")
    clone = clone_of(project, tmp_path)
    assert clone == history.path
    return corpus(project, clone, 60, tmp_path / "scratch.git")


def test_merges_that_conflict_are_found_and_compared_with_what_people_committed(
    history: History, tmp_path: Path
) -> None:
    merges = _found(history, tmp_path)

    assert [[file.path for file in each.files] for each in merges] == [
        [LISTED],
        [CODE],
        [NEWS],
    ]
    figures = counted(merges, ways())
    assert (figures.merges, figures.files, figures.kept) == (3, 3, 3)
    assert figures.ways[ATTRIBUTES].files == {Verdict.EQUAL: 1, Verdict.CONFLICT: 2}
    assert figures.ways["union of changelogs"].merges[Verdict.EQUAL] == 1
    assert figures.ways["cheap"].files[Verdict.CONFLICT] == 2
    assert figures.ways["union everywhere"].files[Verdict.DIFFERS] == 1
    rows = [*by_project({"own/calc": figures}), *by_way(sum([figures], Figures()))]
    assert rows[2].startswith("| own/calc | 3 | 3 | 0 | 3 | 1, 1 | 3, 2 | 1, 1 |")
    assert "| union of changelogs | 1 (33 %) | 1 (100 %) |" in "\n".join(rows)


def test_merges_are_counted_by_whether_their_sides_share_a_file(
    history: History, tmp_path: Path
) -> None:
    head = str(history.repo.references["refs/heads/main"].target)

    told = shared_files(read.History(history.path, head, tmp_path / "scratch.git"))

    assert told == SharedFiles(merges=4, sharing=3, conflicts=3, both=3)
    assert [*by_sharing({})][-1] == "| all | 0 | 0 | 0 | 0 |"


def test_a_resolution_is_wrong_where_the_projects_tests_break(
    history: History, tmp_path: Path
) -> None:
    merges = [each for each in _found(history, tmp_path) if each.files[0].path == CODE]
    tries = {
        "double": lambda _: b"RATE = 12\n",
        "nought": lambda _: b"RATE = 0\n",
        "people": lambda file: file.committed,
        "nobody": lambda _: None,
    }

    told = outcomes(merges, tmp_path / "scratch.git", (".",), tries)

    assert told == {
        "double: tests pass": 1,
        "nought: tests break": 1,
        "people: equal": 1,
    }


def test_only_edits_that_do_not_meet_are_joined() -> None:
    near = ConflictHunk(base=b"a\nb\n", ours=b"A\nb\n", theirs=b"a\nB\n")
    assert adjacent_lines(near) == b"A\nB\n"
    assert separate_words(near) == b"A\nB\n"
    moved = ConflictHunk(base=b"a\nb\n", ours=b"b\n", theirs=b"a\nB\n")
    assert adjacent_lines(moved) is None
    line = ConflictHunk(
        base=b"f(one, two)\n", ours=b"f(1, two)\n", theirs=b"f(one, 2)\n"
    )
    assert adjacent_lines(line) is None
    assert separate_words(line) == b"f(1, 2)\n"
    more = ConflictHunk(base=b"", ours=b"import a\n", theirs=b"import b\nimport a\n")
    assert both_imports(more) == b"import a\nimport b\n"
