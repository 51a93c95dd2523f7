"""Which git is run, where an agent may have written one."""

import os
import sys
from pathlib import Path

import pytest

from grite import git, trusted_programs
from tests.world.program import ran

FAKE = "#!/bin/sh\necho git version 99.0.0\n"


def fake(folder: Path, mode: int) -> str:
    folder.mkdir()
    (folder / "git").write_text(FAKE)
    (folder / "git").chmod(0o755)
    folder.chmod(mode)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_a_git_that_others_may_replace_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", fake(tmp_path / "bin", 0o777))

    assert git.version() < (99, 0, 0)
    assert str(tmp_path) not in trusted_programs.folders()
    assert Path(trusted_programs.found("git")).is_absolute()


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
@pytest.mark.needs("setpriv")
def test_a_git_in_the_users_own_folder_is_not_run(tmp_path: Path) -> None:
    path = fake(tmp_path / "bin", 0o755)
    for each in (tmp_path / "bin", tmp_path / "bin/git"):
        os.chown(each, 54321, 54321)
    code = "from grite import trusted_programs as t; print(t.found('git'))"
    done = ran([sys.executable, "-I", "-c", code], env={"PATH": path}, check=True)

    assert done.stdout.strip() == "/usr/bin/git"


def test_one_that_is_nowhere_else_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own := tmp_path / "bin").mkdir(mode=0o777)
    (own / "a-program-of-its-own").write_text(FAKE)
    (own / "a-program-of-its-own").chmod(0o777)
    monkeypatch.setenv("PATH", str(own))

    found = trusted_programs.found("a-program-of-its-own")

    assert found == str(own / "a-program-of-its-own")
    assert trusted_programs.found("no-such-program") == "no-such-program"
