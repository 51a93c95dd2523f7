"""A stranger's bundle brings sound commits, or nothing that counts."""

import os
from pathlib import Path

import pytest

from bot.repository.strangers_commits import EXAMINERS, NoBundle, examined_patch
from grite import git
from grite.errors import GitFailed
from tests.bot.history import History
from tests.world.cases import looped
from tests.world.log_keys import open_mirror
from tests.world.rules import settings

WHO = "Ann <ann@example.org> 1700000000 +0000"
SESSION = "fix-7/1/1"
FILES = {"a": b"1\n", "b": b"1\n"}


class Box:
    """Where an agent worked, and the mirror that is to take its work in."""

    def __init__(self, folder: Path) -> None:
        self.origin = History(folder / "origin.git")
        self.base = self.origin.commit(FILES)
        self.origin.point("refs/heads/main", self.base)
        self.mirror = open_mirror(
            folder / "mirror.git", self.origin.path.as_uri(), None
        )
        self.mirror.look()
        self.work = History(folder / "work.git")
        assert self.work.commit(FILES) == self.base
        self.bundle = folder / "work.bundle"

    def bundled(self, commit: str, *without: str) -> Path:
        """Bundle a commit as HEAD, on top of what the other side has."""
        self.work.point("refs/heads/main", commit)
        known = [f"^{one}" for one in without or (self.base,)]
        args = ["bundle", "create", "--quiet", str(self.bundle), "HEAD", *known]
        git.run(args, cwd=self.work.path)
        return self.bundle

    def raw(self, tree: str) -> str:
        text = f"tree {tree}\nparent {self.base}\nauthor {WHO}\ncommitter {WHO}\n\nx"
        return self.work.raw("commit", text.encode())


@pytest.fixture
def box(tmp_path: Path) -> Box:
    folder = tmp_path / 'git\'s "lists": of paths'
    folder.mkdir()
    return Box(folder)


def test_work_is_taken_in_and_no_branch_moves(box: Box) -> None:
    first = box.work.commit(FILES | {"a": b"2\n"}, box.base)
    second = box.work.commit(FILES | {"a": b"3\n"}, first)

    before = dict(box.mirror.refs)

    box.mirror.take_in(box.bundled(second), SESSION)
    box.mirror.take_in(box.bundle, SESSION)

    assert box.mirror.has(first)
    assert box.mirror.has(second)
    git.run(["fsck", "--strict", second], cwd=box.mirror.path)
    assert box.mirror.refs == before
    assert git.run(["for-each-ref", "refs/heads"], cwd=box.mirror.path).stdout == b""


@pytest.mark.parametrize("moves", range(4))
def test_where_taking_in_is_cut_off_what_is_there_is_whole(
    box: Box, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    commit = box.work.commit(FILES | {"a": b"2\n", "c/d/e": b"4\n"}, box.base)
    left, rename = [*range(moves)], Path.rename

    def cut_off(file: Path, to: Path) -> Path:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return rename(file, to)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", cut_off)
        with pytest.raises(KeyboardInterrupt):
            box.mirror.take_in(box.bundled(commit), SESSION)
    git.run(["fsck", "--strict"], cwd=box.mirror.path)  # says so if a file is missing
    box.mirror.take_in(box.bundle, SESSION)

    assert box.mirror.has(commit)
    git.run(["fsck", "--strict", commit], cwd=box.mirror.path)


def test_what_no_commit_reaches_stays_out(box: Box) -> None:
    commit = box.work.commit(FILES | {"a": b"2\n"}, box.base)
    blob = str(box.work.repo.create_blob(b"nobody asks for it\n"))
    args = ["rev-list", "--objects", "--no-object-names", commit, f"^{box.base}"]
    listed = git.run(args, cwd=box.work.path).stdout + blob.encode() + b"\n"
    args = ["pack-objects", "--stdout", "-q"]
    pack = git.run(args, cwd=box.work.path, stdin=listed).stdout
    head = f"# v2 git bundle\n-{box.base}\n{commit} HEAD\n\n".encode()
    box.bundle.write_bytes(head + pack)

    box.mirror.take_in(box.bundle, SESSION)

    assert box.mirror.has(commit)
    assert blob not in box.mirror.objects


def test_work_that_is_too_dear_to_look_at_or_to_keep_in_between_is_refused(
    box: Box,
) -> None:
    base, work = box.base, box.work.commit({"a": b"QUJD" * 4_000_000}, box.base)
    patch = examined_patch(box.work.path, base, work, settings(), 50_000_000)

    assert "the memory and time limits" in patch.refusals[0]
    assert not patch.keeps
    assert patch.is_large

    line = [box.base]
    for number in range(6):
        files = {"a": bytes([48 + number]) * 40_000_000}
        line.append(box.work.commit(files, line[-1]))
    line.append(box.work.commit({"a": b"2\n"}, line[-1]))
    patch = examined_patch(box.work.path, box.base, line[-1], settings())

    assert "the limit is 200000000" in patch.refusals[0]
    assert not patch.keeps


def test_an_examiner_that_was_killed_is_started_again(box: Box) -> None:
    commit = box.work.commit({"a": b"2\n"}, box.base)
    first = examined_patch(box.work.path, box.base, commit, settings())
    assert EXAMINERS.process is not None
    EXAMINERS.process.kill()
    os.waitid(os.P_PID, EXAMINERS.process.pid, os.WEXITED | os.WNOWAIT)

    assert first == examined_patch(box.work.path, box.base, commit, settings())
    assert first.refusals == ()


@looped(
    pytest.param(b"100644 .git\0%s", id="a file named .git"),
    pytest.param(b"100644 .GIT\0%s", id="a file named .GIT"),
    pytest.param(b"100644 a/b\0%s", id="a name with a slash"),
    pytest.param(b"100644 ..\0%s", id="a file named .."),
    pytest.param(b"100644 a\0%s100644 a\0%s", id="a name twice"),
    pytest.param(b"100644 b\0%s100644 a\0%s", id="names out of order"),
    pytest.param(b"120000 .gitmodules\0%s", id="a link named .gitmodules"),
)
def test_a_malformed_tree_is_refused(entries: bytes, box: Box) -> None:
    blob = bytes.fromhex(str(box.work.repo.create_blob(b"new\n")))
    tree = box.work.raw("tree", entries.replace(b"%s", blob))
    bundle = box.bundled(box.raw(tree))

    with pytest.raises(GitFailed, match="fsck error"):
        box.mirror.take_in(bundle, SESSION)


@looped(b"120755", b"160755", b"100664", b"140644")
def test_a_mode_that_programs_read_differently_is_refused(
    mode: bytes, box: Box
) -> None:
    """To git the first is a link and the second a submodule; to libgit2, files."""
    blob = bytes.fromhex(str(box.work.repo.create_blob(b"../../etc/passwd")))
    tree = box.work.raw("tree", mode + b" a\0" + blob)
    commit = box.mirror.take_in(box.bundled(box.raw(tree)), SESSION)

    patch = examined_patch(box.mirror.path, box.base, commit, settings())

    assert patch.refusals == ("The patch has an unusual file mode: a.",)


@looped(
    (b"", "is not a git bundle"),
    (b"PACK", "is not a git bundle"),
    (b"# v2 git bundle\n", "is not a git bundle"),
    (b"# v9 git bundle\n\n\nPACK", "is not a git bundle"),
    (b"# v2 git bundle\n\n\nPACK", "has no HEAD"),
    (b"# v2 git bundle\n" + b"a" * 40 + b" refs/heads/x\n\nPACK", "has no HEAD"),
    (b"# v2 git bundle\n--upload-pack=x HEAD\n\nPACK", "has no HEAD"),
)
def test_what_is_no_bundle_is_refused(data: bytes, why: str, box: Box) -> None:
    box.bundle.write_bytes(data)

    with pytest.raises(NoBundle, match=why):
        box.mirror.take_in(box.bundle, SESSION)


def test_a_bundle_that_names_what_it_does_not_hold_is_refused(box: Box) -> None:
    work = box.work.commit({"a": b"2\n"}, box.base)
    data = box.bundled(work).read_bytes()
    blob = str(box.work.at(work).tree["a"].id)

    for lie in ("f" * 40, blob):
        box.bundle.write_bytes(data.replace(work.encode(), lie.encode()))
        with pytest.raises(NoBundle, match="does not contain the commit that it names"):
            box.mirror.take_in(box.bundle, SESSION)
