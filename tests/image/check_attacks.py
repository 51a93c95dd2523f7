"""Nothing that an agent tries wins in the runner's image, in Docker's containers."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from tests.attacks.judge import Told, judged
from tests.attacks.machine import machine
from tests.attacks.sessions import prepared
from tests.image.containers import docker, given, options, tried
from tests.runner.job import Left

pytestmark = pytest.mark.timeout(240)

IMAGE: Final = "brat-runner"
PYTHON: Final = "python3"
FIND: Final = "ls /opt/brat/lib/python3*/site-packages/runner/proxy/egress_server.py"
OPTIONS: Final = {
    "image": (),
    "image with namespaces": (
        *("--security-opt", "seccomp=unconfined"),
        *("--security-opt", "apparmor=unconfined"),
        *("--security-opt", "systempaths=unconfined"),
    ),
}
"""How a container is started so that it finds such a machine.
https://docs.docker.com/engine/security/seccomp/
"""


def in_a_container(*more: str) -> dict[str, Told]:
    with machine() as found:
        code = docker("run", "--rm", "--entrypoint=sh", IMAGE, "-c", FIND).strip()
        found.at = replace(found.at, code=code)
        found.python = PYTHON
        env = prepared(found)
        env["PATH"] = f"{env['PATH'].partition('/usr')[0]}/opt/brat/bin:/usr/bin:/bin"
        given(found.root)
        told = env | {"DOCKER_CONFIG": str(found.root / "nothing")}
        done = tried("run", "--rm", *options(found.root, env), *more, IMAGE, env=told)
        given(found.root, os.getuid())
        left = Left(done.returncode, done.stdout, done.stderr, Path(found.at.result))
        assert "result.json" in left.names, (sorted(left.names), done.stderr)
        return judged(found, left.said, left.folder)


@pytest.mark.parametrize("where", OPTIONS)
def test_nothing_is_won_in_a_container(where: str) -> None:
    told = in_a_container(*OPTIONS[where])

    assert len(told) > 40
    assert {name: each.won for name, each in told.items() if each.won} == {}
