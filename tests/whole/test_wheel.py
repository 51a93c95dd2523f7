"""What people install: all that the packages hold, and a command that starts."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from bot import VERSION

pytestmark = pytest.mark.layer("landing")

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PACKAGES = ("grite", "convoy", "bot", "runner", "brat")


def run(*argv: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    run(str(BIN / "uv"), "build", "--quiet", "--wheel", "--out-dir", str(tmp_path))
    kept = run("git", "ls-files", *PACKAGES).split()
    workflows = run("git", "ls-files", "workflows").split()
    demo = run("git", "ls-files", "examples/demo-project").split()

    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as held:
        names = set(held.namelist())

    assert {*kept} - names == set()
    assert {f"brat/{name}" for name in workflows} - names == set()
    assert {name.replace("examples", "brat", 1) for name in demo} - names == set()
    assert wheel.name == f"brat_bot-{VERSION}-py3-none-any.whl"


def test_the_command_says_which_version_it_is(tmp_path: Path) -> None:
    assert run(str(BIN / "brat"), "--version", cwd=tmp_path) == f"brat {VERSION}\n"
