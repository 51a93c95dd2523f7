"""A session of the evil agent: set up, engine, acceptance, each trying everything."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from convoy.model.records import BoxSetting, EngineSpec, Limits
from tests.attacks.machine import Machine
from tests.attacks.surroundings import SECRET
from tests.runner.job import Forge, Left
from tests.world.given_secrets import given_in
from tests.world.program import ran

WORKER = """\
import subprocess, sys
runner = [sys.executable, "-I", "-m", "runner"]
sys.exit(subprocess.run(runner, pass_fds=map(int, sys.argv[1:])).returncode)
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


@contextmanager
def handed(**texts: str) -> Iterator[dict[str, str]]:
    """Give variables that name descriptors, each of which holds a text."""
    with ExitStack() as stack:
        files = {each: stack.enter_context(TemporaryFile()) for each in texts}
        for name, file in files.items():
            file.write(texts[name].encode())
            file.seek(0)
        yield {name: str(file.fileno()) for name, file in files.items()}


def session(
    machine: Machine,
    prefix: Sequence[str] = (),
    *,
    box: BoxSetting = "on",
    **variables: str,
) -> Left:
    """Run one session to its end, on a machine that `prefix` makes."""
    env = prepared(machine, box=box) | variables
    del env["BRAT_TOKEN"]
    feed = f"http://127.0.0.1:{machine.at.doors['live feed']}/feed"
    place = json.dumps({"url": feed, "token": SECRET})
    with handed(BRAT_FEED_FD=place, BRAT_TOKEN_FD=SECRET) as told:
        done = ran(
            [*prefix, sys.executable, "-I", "-c", WORKER, *told.values()],
            cwd=machine.root,
            env=env | told,
            pass_fds=[*map(int, told.values())],
        )
    return Left(done.returncode, done.stdout, done.stderr, Path(machine.at.result))
