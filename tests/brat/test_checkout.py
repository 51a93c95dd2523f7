"""Looking at a person's checkout changes nothing in it."""

import asyncio
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from brat.forge.resources.forge_records import Ci
from brat.local.forge_process import ServeOptions, served
from brat.repository.checkout import Checkout, find, landed_commands, require_clean
from brat.repository.registration import Registration, Source, register
from grite.errors import BratError
from tests.runner.job import CLEAN
from tests.world.patience import patient


def git(where: Path, *words: str) -> None:
    subprocess.run(("git", *words), cwd=where, env=CLEAN, check=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    for name in ("a.txt", "b c.txt", "ü.txt"):
        (tmp_path / name).write_text("one\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "Begin")
    return find(tmp_path)


def source_of(checkout: Checkout) -> Source:
    return Source(path=checkout.top, branch="main", name="app", person="ann")


def test_what_differs_from_the_commit_is_changed_and_not_what_was_only_touched(
    checkout: Checkout,
) -> None:
    index = checkout.top / ".git/index"
    before = index.read_bytes()

    for second in range(5):
        os.utime(checkout.top / "a.txt", (second, second))
        assert checkout.changed_files() == ()

    assert index.read_bytes() == before
    (checkout.top / "ü.txt").write_text("two\n")
    (checkout.top / "a.txt").rename(checkout.top / "d.txt")
    (checkout.top / "b c.txt").write_text("two\n")
    git(checkout.top, "add", "b c.txt")
    assert checkout.changed_files() == ("a.txt", "b c.txt", "ü.txt")


def test_what_a_submodule_s_folder_holds_is_no_change(checkout: Checkout) -> None:
    allowed = ("-c", "protocol.file.allow=always")
    git(checkout.top, *allowed, "submodule", "--quiet", "add", "./", "sub")
    git(checkout.top, "commit", "--quiet", "--message", "Add a submodule")
    (checkout.top / "sub/a.txt").write_text("two\n")

    assert checkout.changed_files() == ()

    git(checkout.top / "sub", "commit", "--quiet", "--all", "--message", "Another")
    with pytest.raises(BratError) as told:
        require_clean(checkout)
    assert str(told.value).endswith(
        "(sub): agents start from commits, so first run `git submodule update -- sub`, "
        "or commit the submodule's new commit"
    )


def test_of_two_first_commands_at_once_the_second_waits(checkout: Checkout) -> None:
    begin = Barrier(2)

    def first(_number: int) -> Registration:
        begin.wait()
        return register(checkout.folder, source_of(checkout))

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(first, range(2))

    assert one == other


@pytest.mark.layer("landing")
def test_of_two_starts_at_once_the_second_uses_the_first_s_forge(
    checkout: Checkout,
) -> None:
    register(checkout.folder, source_of(checkout))
    each_in_turn = Barrier(2, timeout=patient(20))

    async def start() -> str:
        each_in_turn.wait()
        async with served(checkout.folder, ServeOptions(Ci(), {})) as forge:
            each_in_turn.wait()
            return forge.url

    with ThreadPoolExecutor(2) as threads:
        starts = [threads.submit(asyncio.run, start()) for _ in range(2)]

    one, other = (each.result() for each in starts)
    assert one == other


def test_what_landed_is_taken_by_the_worktree_that_has_the_branch(
    checkout: Checkout,
) -> None:
    known = register(checkout.folder, source_of(checkout))
    git(checkout.top, "checkout", "--quiet", "-b", "mine")
    git(checkout.top, "worktree", "add", "--quiet", ".home", "main")

    for command in landed_commands(checkout, known):
        subprocess.run(command, cwd=checkout.top, env=CLEAN, check=True)
