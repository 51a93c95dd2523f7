"""Docker's command line, for tests that run what is in the images."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.world.program import ran

USER = 1001
"""Whom the images' programs run as."""
BUILT = tuple(os.environ.get("BRAT_IMAGES", "").split())
"""The targets that `make image` has built."""


def docker(*args: str, env: Mapping[str, str] | None = None) -> str:
    done = tried(*args, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def tried(
    *args: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return ran([client(), *args], env=os.environ | (env or {}))


def client() -> str:
    own = Path("/usr/bin/docker")
    return str(own) if own.exists() else "docker"


def given(folder: Path, user: int = USER) -> Path:
    """Let the user of the images, or another, have a folder."""
    for each in (folder, *folder.rglob("*")):
        if not each.is_symlink():
            shutil.chown(each, user, user)
    return folder


def options(folder: Path, env: Mapping[str, str]) -> list[str]:
    """Return the options of a container that sees `folder` and is told `env`.

    Values travel through the client's environment: none is on a command line.
    """
    told = [word for name in env for word in ("--env", name)]
    return ["--network=host", f"--volume={folder}:{folder}", *told]


@contextmanager
def running(image: str, folder: Path, *more: str) -> Iterator[str]:
    """Run what an image runs by itself, in the background; give its name; end it."""
    name = f"brat-{os.getpid()}-{folder.name}"[:60]
    detached = ("run", "--detach", "--rm", f"--name={name}")
    docker(*detached, *options(folder, {}), *more, image)
    try:
        yield name
    finally:
        docker("stop", "--time=5", name)
