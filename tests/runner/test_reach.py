"""Where an agent could take what lets its job speak for itself, nobody is asked."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.world.alone import ALONE
from tests.world.cases import looped
from tests.world.program import ran

TOKEN = "made-up-secret-of-one-job"
ASK = f"""
import os
from runner.box.processes import harden
from runner.session.feed_client import why_exposed
path = os.environ["PATH"]
harden(path, {{}})
print(why_exposed({TOKEN!r}, path))
"""
WITNESS = (sys.executable, "-I", "-c", ASK)
pytestmark = pytest.mark.needs("unshare")


def asked(argv: Sequence[str], path: str, **env: str) -> str:
    done = ran(argv, env={"PATH": path, **env})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def path(tmp_path: Path) -> str:
    bare = tmp_path / "tools"
    bare.mkdir()
    for name in ("unshare", "sh", "sleep", "kill"):
        (bare / name).symlink_to(shutil.which(name) or "")
    return f"{tmp_path}:{bare}"


@looped(
    (ALONE, ""),
    (
        (*(word for word in ALONE if "--map" not in word), "--map-root-user"),
        "the job runs as root, and so does its agent",
    ),
    ((*ALONE, "--keep-caps"), "each process of the job's user can read all others"),
    (
        (*ALONE, "sh", "-c", '"$@"; true', "sh"),  # a shell waits with the token
        "any process of this user can read the job's token in /proc/1",
    ),
)
def test_a_user_of_the_jobs_own_is_enough_and_nobody_else_is(
    machine: tuple[str, ...], told: str, path: str
) -> None:
    assert asked((*machine, *WITNESS), path, ASKS=TOKEN) == told


def test_nor_the_forges_own_process_nor_who_becomes_root_by_asking(
    path: str, tmp_path: Path
) -> None:
    (tmp_path / "Runner.Worker").symlink_to(tmp_path / "tools/sleep")
    shell = ("sh", "-c", 'Runner.Worker 600 & "$@"; kill $!', "sh")
    beside = "the job runs beside the forge's runner; run it in a container"
    assert asked((*ALONE, *shell, *WITNESS), path) == beside

    (tmp_path / "sudo").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "sudo").chmod(0o755)
    root = "the job's user can become root with sudo, and so can its agent"
    assert asked((*ALONE, *WITNESS), path) == root
