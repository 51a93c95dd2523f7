"""The paths that an agent cannot write to, and those it cannot see.

The witness and its proxy load some of their code while the agent runs; an agent that
could write to it would have their rights. And on a machine that is not for one job
alone, the home of the job's user holds logins to other services.
"""

import sysconfig
from functools import cache
from pathlib import Path
from typing import Final

import convoy
import grite
from convoy.model.engine_types import ENGINE_TYPES
from runner.inputs.job_inputs import Inputs

STORE: Final = "store.git"
"""The witness's repository, in its scratch folder."""
CREDENTIALS: Final = (
    *(".netrc", ".git-credentials", ".config/git", ".config/gh", ".gitconfig"),
    *(".ssh", ".gnupg", ".docker", ".kube", ".aws", ".azure", ".config/gcloud"),
    *(".npmrc", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml"),
    *(".m2/settings.xml", ".gradle/gradle.properties", ".config/hub"),
    *(path for each in ENGINE_TYPES.values() for path in each.logins),
)
"""Files and folders in a person's home by which programs speak for that person."""
DAEMONS: Final = (
    *("/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock"),
)
"""Sockets of daemons that make whoever may open them root on the machine."""
COMMANDS: Final = (
    *("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE"),
    "GITHUB_STEP_SUMMARY",
)
"""Variables that name the files by which a job's step controls later steps."""


@cache
def kept() -> tuple[str, ...]:
    """Return the folders of the runner's own code."""
    libraries = (sysconfig.get_path(each) for each in ("stdlib", "purelib", "platlib"))
    rooms = (each.__path__[0] for each in (convoy, grite))
    found = dict.fromkeys((*libraries, str(Path(__file__).parents[1]), *rooms))
    return tuple(each for each in found if Path(each).is_dir())


def hidden(inputs: Inputs, store: Path) -> list[str]:
    """Return the paths that no agent may see: credentials, the witness's files.

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
    """Whether a path exists; False where this user, and so its agent, may not look."""
    try:
        return path.exists()
    except OSError:
        return False


def _own_home() -> str:
    """Return the home of the job's user, or "" if there is none (some containers)."""
    try:
        return str(Path.home())
    except RuntimeError:
        return ""
