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

    Args:
        workflow: its file.
        checkout: the folder beside which act keeps what is its own.
        secret: its name and value.
        more: further words for act.
        told: the variables of the jobs.
        image: what jobs run in; usually this machine.
        env: variables for act itself.
    """
    home = checkout.parent
    done = ran(
        [
            *(ACT, "workflow_dispatch", "--workflows", workflow),
            *("--platform", f"ubuntu-latest={image}", "--pull=false"),
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
