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


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    def git(*words: str) -> None:
        subprocess.run(("git", *words), cwd=tmp_path, env=CLEAN, check=True)

    git("init", "--quiet")
    for name in ("a.txt", "b c.txt", "ü.txt"):
        (tmp_path / name).write_text("one\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "Begin")
    return find(tmp_path)


def test_a_file_that_was_only_touched_is_not_changed_nor_noted(
    checkout: Checkout,
) -> None:
    index = checkout.top / ".git/index"
    before = index.read_bytes()

    for second in range(5):
        os.utime(checkout.top / "a.txt", (second, second))
        assert checkout.changed_files() == ()

    assert index.read_bytes() == before


def test_what_differs_from_the_commit_is_named(checkout: Checkout) -> None:
    (checkout.top / "ü.txt").write_text("two\n")
    (checkout.top / "a.txt").rename(checkout.top / "d.txt")
    (checkout.top / "b c.txt").write_text("two\n")
    subprocess.run(("git", "add", "b c.txt"), cwd=checkout.top, env=CLEAN, check=True)

    assert checkout.changed_files() == ("a.txt", "b c.txt", "ü.txt")


def test_what_a_submodule_s_folder_holds_is_no_change(checkout: Checkout) -> None:
    def git(*words: str) -> None:
        subprocess.run(("git", *words), cwd=checkout.top, env=CLEAN, check=True)

    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./", "sub")
    git("commit", "--quiet", "--message", "Add a submodule")
    (checkout.top / "sub/a.txt").write_text("two\n")

    assert checkout.changed_files() == ()

    git("-C", "sub", "commit", "--quiet", "--all", "--message", "Another")
    with pytest.raises(BratError) as told:
        require_clean(checkout)
    assert str(told.value).endswith(
        "(sub): agents start from commits, so first run `git submodule update -- sub`, "
        "or commit the submodule's new commit"
    )


def test_of_two_first_commands_at_once_the_second_waits(checkout: Checkout) -> None:
    source = Source(path=checkout.top, branch="main", name="app", person="ann")
    begin = Barrier(2)

    def first(_number: int) -> Registration:
        begin.wait()
        return register(checkout.folder, source)

    subprocess.run(("git", "branch", "-m", "main"), cwd=checkout.top, check=True)
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(first, range(2))

    assert one == other


@pytest.mark.layer("landing")
def test_of_two_starts_at_once_the_second_uses_the_first_s_forge(
    checkout: Checkout,
) -> None:
    subprocess.run(("git", "branch", "-m", "main"), cwd=checkout.top, check=True)
    source = Source(path=checkout.top, branch="main", name="app", person="ann")
    register(checkout.folder, source)
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
    def git(*words: str) -> None:
        subprocess.run(("git", *words), cwd=checkout.top, env=CLEAN, check=True)

    git("branch", "-m", "main")
    known = register(
        checkout.folder,
        Source(path=checkout.top, branch="main", name="app", person="ann"),
    )
    git("checkout", "--quiet", "-b", "mine")
    git("worktree", "add", "--quiet", ".home", "main")

    for command in landed_commands(checkout, known):
        subprocess.run(command, cwd=checkout.top, env=CLEAN, check=True)
