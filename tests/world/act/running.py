"""Workflows of this repository, run by act as they are."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.world.program import ran

ACT: Final = Path(sys.executable).with_name("act")
NONE: Final[Mapping[str, str]] = {}
MACHINES: Final = ("ubuntu-latest", "ubuntu-24.04")
"""What jobs ask for here."""


def acted(
    workflow: Path,
    checkout: Path,
    secret: tuple[str, str],
    *more: str,
    told: Mapping[str, str],
    image: str = "-self-hosted",
    env: Mapping[str, str] = NONE,
) -> subprocess.CompletedProcess[str]:
    """Run a workflow in a checkout; its secret is not in what it says.

    `more` are further words for act, `told` the variables of the jobs, and `env` those
    of act itself, which keeps what is its own beside the checkout. Without an image,
    jobs run on this machine.
    """
    home = checkout.parent
    done = ran(
        [
            *(ACT, "workflow_dispatch", "--workflows", workflow),
            *(f"--platform={each}={image}" for each in MACHINES),
            "--pull=false",
            *("--no-cache-server", "--action-cache-path", home / "actions"),
            *(word for each in told.items() for word in ("--env", "=".join(each))),
            *("--secret", secret[0], *more),
        ],
        cwd=checkout,
        env={
            "PATH": f"{ACT.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            secret[0]: secret[1],
            **env,
        },
    )
    assert secret[1] not in done.stdout
    return done
