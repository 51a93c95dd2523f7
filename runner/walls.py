"""What an agent in the sandbox cannot change, and what it does not find.

The witness and its proxy load some of their code while the agent runs, so an agent that
may write there would be either. And the home of who runs the job, where the machine is
not for one job alone, holds what opens other doors.
"""

import sysconfig
from functools import cache
from pathlib import Path
from typing import Final

import convoy
import grite
import runner
from runner.inputs import Inputs

CREDENTIALS: Final = (
    *(".netrc", ".git-credentials", ".config/git", ".config/gh", ".gitconfig"),
    *(".ssh", ".gnupg", ".docker", ".kube", ".aws", ".azure", ".config/gcloud"),
    *(".npmrc", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml"),
    *(".m2/settings.xml", ".gradle/gradle.properties", ".config/hub"),
    *(".claude", ".claude.json", ".codex", ".gemini", ".continue", ".copilot"),
    *(".config/github-copilot", ".local/share/opencode"),
)
"""In a person's home: what programs keep there to speak for that person."""
DAEMONS: Final = (
    *("/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock"),
)
"""Whoever may open these is root on the machine."""
COMMANDS: Final = (
    *("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE"),
    "GITHUB_STEP_SUMMARY",
)
"""Files by which a step tells the steps after it what to do."""


@cache
def kept() -> tuple[str, ...]:
    """Return the folders that the runner's own code is in."""
    libraries = (sysconfig.get_path(each) for each in ("stdlib", "purelib", "platlib"))
    rooms = (str(Path(each.__path__[0])) for each in (runner, convoy, grite))
    found = dict.fromkeys((*libraries, *rooms))
    return tuple(each for each in found if Path(each).is_dir())


def hidden(inputs: Inputs, store: Path) -> list[str]:
    """Return what the agent has no part in: the job's credentials, the witness's own.

    Args:
        inputs: the job.
        store: the witness's repository.
    """
    homes = {inputs.offered.get("HOME", ""), _own_home()} - {""}
    inside = (Path(home, each) for home in sorted(homes) for each in CREDENTIALS)
    told = (inputs.offered.get(name, "") for name in COMMANDS)
    files = (Path(each) for each in (*DAEMONS, *filter(None, told)))
    mirrors = (inputs.objects,) if inputs.objects else ()
    found = (*inside, *files, inputs.result, store, *mirrors)
    return [str(each) for each in found if _is_there(each)]


def _is_there(path: Path) -> bool:
    """Whether something is there; what this user may not look for, its agent cannot."""
    try:
        return path.exists()
    except OSError:
        return False


def _own_home() -> str:
    """Return the home of the job's user; empty: it has none, as in some containers."""
    try:
        return str(Path.home())
    except RuntimeError:
        return ""
