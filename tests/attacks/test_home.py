"""Whose programs an agent may start, their home it may not read."""

import os

import pytest

from tests.attacks.judge import judged
from tests.attacks.machine import machine
from tests.attacks.sessions import session

pytestmark = pytest.mark.layer("landing")

MUST_FAIL = {
    "secrets in files",
    "a hard link to a secret",
    "git that asks for a password",
    "dotfiles in the real home",
    "git of its own on the path",
}


def test_a_home_on_the_path_is_not_shown_where_the_job_has_another_home() -> None:
    with machine() as found:
        (found.root / "home/bin").mkdir()
        (found.root / "job").mkdir()
        env = found.variables()
        path = f"{found.root}/home/bin{os.pathsep}{env['PATH']}"
        left = session(
            found,
            HOME=str(found.root / "job"),
            PATH=path,
            JAVA_HOME=str(found.root / "home"),  # nor where they are called a tool's
            RUSTUP_HOME=str(found.root / "home/.ssh"),
            M2_HOME=str(found.root),
        )
        told = judged(found, left.said, left.folder)

    assert {name: told[name].won for name in MUST_FAIL if told[name].won} == {}
