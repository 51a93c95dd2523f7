"""A session of the evil agent: set up, engine, acceptance, each trying everything."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from convoy.model.records import BoxSetting, EngineSpec, Limits
from tests.attacks.machine import Machine
from tests.attacks.surroundings import SECRET
from tests.runner.job import Forge, Left
from tests.world.given_secrets import given_in
from tests.world.program import ran

WORKER = """\
import subprocess, sys
runner = [sys.executable, "-I", "-m", "runner"]
sys.exit(subprocess.run(runner, pass_fds=[int(sys.argv[1])]).returncode)
"""
"""Stands for GitHub's runner: it has all of the job's secrets, and stays."""
PLACES = ("setup", "engine", "acceptance")


def prepared(machine: Machine, *, box: BoxSetting = "on") -> dict[str, str]:
    """Bring the attack to a machine; return what its job is told."""
    forge = Forge(machine.root)
    forge.commit_on_main(machine.files())
    claude = machine.root / "programs/claude"
    claude.write_text(f"#!/bin/sh\nexec {machine.command('engine')}\n")
    claude.chmod(0o755)
    started = forge.started(
        engine=EngineSpec(type="claude-code", model="m", timeout_s=600),
        limits=Limits(checkpoint_s=1),
        acceptance=machine.command("acceptance"),
        box=box,
        egress=("*",) if box == "off" else None,
    )
    env = forge.environment(forge.hand_off(started), **machine.variables())
    given_in(env)
    return env


def left_in(machine: Machine, status: int = 0, out: str = "", err: str = "") -> Left:
    return Left(status, out, err, Path(machine.at.result))


def session(
    machine: Machine,
    prefix: Sequence[str] = (),
    *,
    box: BoxSetting = "on",
    **variables: str,
) -> Left:
    """Run one session to its end, on a machine that `prefix` makes."""
    env = prepared(machine, box=box) | variables
    feed = f"http://127.0.0.1:{machine.at.doors['live feed']}/feed"
    with tempfile.TemporaryFile() as told:
        told.write(json.dumps({"url": feed, "token": SECRET}).encode())
        told.seek(0)
        done = ran(
            [*prefix, sys.executable, "-I", "-c", WORKER, str(told.fileno())],
            cwd=machine.root,
            env=env | {"BRAT_FEED_FD": str(told.fileno())},
            pass_fds=(told.fileno(),),
        )
    return left_in(machine, done.returncode, done.stdout, done.stderr)
