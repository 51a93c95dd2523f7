from pathlib import Path

import pygit2
import pytest

from grite import checkpoint
from grite.checkpoint import CHECKPOINTS, newest_first, outdated, ref_of
from grite.errors import Corrupt, Missing
from grite.wal import Log
from tests.grite.commits import append, comment, commit, said
from tests.grite.vectors import T0
from tests.world.cases import looped


@looped(b"{}", b"{}\n", b"{}\n\0\n\xff")
def test_what_was_written_is_read_its_first_line_from_a_file_of_its_own(
    data: bytes, mirror: Path, repo: pygit2.Repository, log: Log
) -> None:
    head = append(log, comment("a"))

    made = checkpoint.write(repo, data, head, T0)

    assert checkpoint.read(repo, made) == (data, head)
    names = said(mirror, "ls-tree", "--name-only", made).split()
    assert {*names} >= {"state.json", "wal_head"}
    assert said(mirror, "show", f"{made}:state.json") == "{}"
    assert said(mirror, "show", "-s", "--format=%P %s", made) == (
        f"{head} Checkpoint at {head}"
    )
    assert checkpoint.write(repo, data, head, T0) == made
    with pytest.raises(Missing):
        checkpoint.write(repo, data, "1" * 40, T0)
    for files, fault in (
        ({"a": b""}, "contains no state.json"),
        ({"state.json": b"{}"}, "contains no wal_head"),
        ({"state.json/a": b"{}", "wal_head": b""}, "is not a file"),
        ({"state.json": b"{}", "wal_head": b"\xff"}, "is not a commit ID"),
    ):
        with pytest.raises(Corrupt, match=fault):
            checkpoint.read(repo, commit(mirror, files))


def test_names_are_times_of_which_three_are_kept_and_none_from_the_future() -> None:
    odd = [CHECKPOINTS, f"{CHECKPOINTS}-1", f"{CHECKPOINTS}x", f"{CHECKPOINTS}1/2"]
    late = f"{CHECKPOINTS}{'9' * 40}"
    names = [ref_of(9), ref_of(10), "refs/grite/wal", *odd, late, ref_of(T0)]
    assert newest_first(names) == [ref_of(T0), ref_of(10), ref_of(9)]

    refs = {ref_of(at): str(at) for at in (5, 40, 3, 20, 10, 30)}
    assert outdated(refs, 30) == {ref_of(40): "40", ref_of(5): "5", ref_of(3): "3"}
    assert outdated(refs, 40, kept=5) == {ref_of(3): "3"}
    assert outdated({}, 40) == {}
