"""Candidates obey `.gitattributes`, as a merge by git on the branch would."""

import os
import subprocess
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from bot.repository.compose import Composer, Conflicted, Piece
from convoy.model.records import Strategy
from tests.bot.history import History

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "mirror.git")


@pytest.fixture
def composer(history: History) -> Composer:
    return Composer(history.path)


def both(history: History, attributes: bytes, ours: bytes, theirs: bytes) -> Piece:
    """Return work on a file that what has landed changed, too."""
    files = {".gitattributes": attributes}
    base = history.commit(files | {"log": b"1\n2\n3\n4\n5\n"})
    onto = history.commit(files | {"log": ours}, base)
    work = history.commit(files | {"log": theirs}, base)
    return Piece(base=base, work=work, onto=onto, message="Task 1\n", at=1_000)


def merged(composer: Composer, history: History, piece: Piece) -> bytes | str:
    """Return the merged file, the same for each strategy, or the file in conflict."""
    found: set[bytes | str] = set()
    for strategy in STRATEGIES:
        made = composer.build(strategy, piece)
        assert made == composer.build(strategy, piece)
        if isinstance(made, Conflicted):
            found.add(made.paths[0])
        else:
            found.add(history.files(made)["log"])
    (one,) = found
    return one


APART = (b"one\n2\n3\n4\n5\n", b"1\n2\n3\n4\ntwo\n")
TOGETHER = (b"1\n2\none\n4\n5\n", b"1\n2\ntwo\n4\n5\n")


@pytest.mark.parametrize(
    ("attributes", "sides", "told"),
    [
        (b"", APART, b"one\n2\n3\n4\ntwo\n"),
        (b"", TOGETHER, "log"),
        (b"* merge=union\n", TOGETHER, b"1\n2\none\ntwo\n4\n5\n"),
        (b"* merge=union\n", APART, b"one\n2\n3\n4\ntwo\n"),
        (b"log -merge\n", APART, "log"),
        (b"log binary\n", APART, "log"),
        (b"log merge=ours\n", TOGETHER, b"1\n2\none\n4\n5\n"),
        (b"log merge=ours\n", APART, b"one\n2\n3\n4\n5\n"),
        (b"log merge=unheard-of\n", APART, b"one\n2\n3\n4\ntwo\n"),
        (b"[attr]pile merge=union\nl*g pile\n", TOGETHER, b"1\n2\none\ntwo\n4\n5\n"),
    ],
)
def test_a_driver_named_in_the_branchs_attributes_merges_the_file(
    attributes: bytes,
    sides: tuple[bytes, bytes],
    told: bytes | str,
    history: History,
    composer: Composer,
) -> None:
    piece = both(history, attributes, *sides)

    assert merged(composer, history, piece) == told


def test_attributes_that_only_the_work_has_do_not_count_yet(
    history: History, composer: Composer
) -> None:
    base = history.commit({"log": b"1\n"})
    onto = history.commit({"log": b"one\n"}, base)
    files = {"log": b"two\n", ".gitattributes": b"* merge=union\n"}
    work = history.commit(files, base)

    made = composer.build(
        "squash", Piece(base=base, work=work, onto=onto, message="Task 1\n", at=1_000)
    )

    assert made == Conflicted(("log",))


def test_what_conflicts_by_attributes_is_left_to_an_agent_with_what_does_not(
    history: History, composer: Composer
) -> None:
    files = {".gitattributes": b"log merge=union\n"}
    base = history.commit(files | {"log": b"1\n", "a": b"1\n"})
    onto = history.commit(files | {"log": b"one\n", "a": b"one\n"}, base)
    work = history.commit(files | {"log": b"two\n", "a": b"two\n"}, base)
    piece = Piece(base=base, work=work, onto=onto, message="Task 1\n", at=1_000)

    assert composer.build("squash", piece) == Conflicted(("a",))
    left = history.files(composer.unresolved(piece))
    assert left["log"] == b"one\ntwo\n"
    assert left["a"].startswith(b"<<<<<<< ")


def test_attributes_in_a_folder_rule_that_folder_as_in_git(
    tmp_path: Path, history: History, composer: Composer
) -> None:
    there = tmp_path / "there"
    git(tmp_path, "init", "-q", "-b", "main", str(there))
    (there / "deep" / "er").mkdir(parents=True)
    (there / "deep" / ".gitattributes").write_text("*.log merge=union\n")
    for side in ("base", "ours", "theirs"):
        if side != "base":
            git(there, "checkout", "-qb", side, "main")
        for file in ("deep/er/a.log", "deep/er/b.log"):
            (there / file).write_text(f"{side}\n")
        git(there, "add", ".")
        git(there, "commit", "-qm", side)
    git(history.path, "fetch", "-q", str(there), "refs/heads/*:refs/heads/*")
    base, ours, theirs = (
        git(there, "rev-parse", name) for name in ("main", "ours", "theirs")
    )

    made = composer.build(
        "squash", Piece(base=base, work=theirs, onto=ours, message="Task 1\n", at=1_000)
    )

    assert isinstance(made, str)
    git(there, "checkout", "-q", "ours")
    git(there, "merge", "-q", "-m", "Merge", "theirs")
    assert git(history.path, "rev-parse", f"{made}^{{tree}}") == git(
        there, "rev-parse", "HEAD^{tree}"
    )


UNITER = """#!/bin/sh
# Stands where a program that merges by structure would: merges lines of text alone.
[ "$1 $2 $6" = "merge --git -p" ] || exit 129
case "$7" in *.txt) git merge-file -q --union "$4" "$3" "$5" ;; *) exit 1 ;; esac
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_structural_merge_gets_what_git_leaves_in_conflict_and_says_so(
    strategy: Strategy,
    history: History,
    composer: Composer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / "bin" / "mergiraf"
    program.parent.mkdir()
    program.write_text(UNITER)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    base = history.commit({"a b.txt": b"1\n", "c": b"1\n"})
    onto = history.commit({"a b.txt": b"one\n", "c": b"1\n"}, base)
    work = history.commit({"a b.txt": b"two\n", "c": b"2\n"}, base)
    piece = Piece(base=base, work=work, onto=onto, message="Task 1\n", at=1_000)
    helping = replace(piece, mergers=("git", "mergiraf"))

    assert composer.build(strategy, piece) == Conflicted(("a b.txt",))
    made = composer.build(strategy, helping)
    assert isinstance(made, str)
    assert history.files(made) == {"a b.txt": b"one\ntwo\n", "c": b"2\n"}
    assert composer.helped(onto, made) == ("mergiraf: a b.txt",)
    assert history.at(made).message.endswith("\n\nBrat-Merged-By: mergiraf: a b.txt\n")
    other = history.commit({"a b.txt": b"1\n", "c": b"one\n"}, base)
    assert composer.build(strategy, replace(helping, onto=other)) == Conflicted(("c",))


def test_a_structural_merge_that_leaves_markers_is_none_whatever_it_ends_with(
    history: History,
    composer: Composer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / "bin" / "mergiraf"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nprintf '1<<<<<<< ours\\n' > \"$4\"\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    base = history.commit({"a.txt": b"1"})
    onto = history.commit({"a.txt": b"1\none\n"}, base)
    work = history.commit({"a.txt": b"1\ntwo\n"}, base)
    piece = Piece(base=base, work=work, onto=onto, message="Task 1\n", at=1_000)
    helping = replace(piece, mergers=("git", "mergiraf"))

    assert composer.build("merge", helping) == Conflicted(("a.txt",))


def git(folder: Path, *args: str) -> str:
    """Run git as somebody with a name."""
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    line = ["git", *who, *args]
    done = subprocess.run(line, cwd=folder, env=env, check=True, capture_output=True)
    return done.stdout.decode().strip()
