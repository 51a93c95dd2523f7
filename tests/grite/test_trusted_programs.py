"""Which git is run, where an agent may have written one."""

import os
import sys
from pathlib import Path

import pytest

from grite import git, trusted_programs
from tests.world.program import ran


def fake(folder: Path, mode: int, name: str = "git") -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\necho git version 99.0.0\n")
    (folder / name).chmod(mode)
    folder.chmod(mode)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_a_git_that_others_may_replace_is_not_run_if_there_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", fake(tmp_path / "bin", 0o777))
    assert git.version() < (99, 0, 0)
    assert str(tmp_path) not in trusted_programs.folders()
    assert Path(trusted_programs.found("git")).is_absolute()

    own = "a-program-of-its-own"
    fake(tmp_path / "bin", 0o777, own)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert trusted_programs.found(own) == str(tmp_path / "bin" / own)
    assert trusted_programs.found("no-such-program") == "no-such-program"


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
@pytest.mark.needs("setpriv")
def test_a_git_in_the_users_own_folder_is_not_run(tmp_path: Path) -> None:
    path = fake(tmp_path / "bin", 0o755)
    for each in (tmp_path / "bin", tmp_path / "bin/git"):
        os.chown(each, 54321, 54321)
    code = "from grite import trusted_programs as t; print(t.found('git'))"
    done = ran([sys.executable, "-I", "-c", code], env={"PATH": path}, check=True)

    assert done.stdout.strip() == "/usr/bin/git"
