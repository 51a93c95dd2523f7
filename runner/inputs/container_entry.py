"""Starts a program in a runner's image, as tini's child, without secrets in /proc/1.

`python -I -m runner.inputs.container_entry PROGRAM ARGUMENT...`

As long as a container lives, /proc/1/environ shows the environment it was started with
to every process of the same user. So the environment goes to the runner through a pipe,
which is empty once it is read, and tini, the first process, starts without it.
https://man7.org/linux/man-pages/man5/proc_pid_environ.5.html
"""

import fcntl
import os
import sys
from collections.abc import Mapping
from typing import Final, NoReturn

from grite import trusted_programs

BY_PIPE: Final = "BRAT_ENVIRONMENT_FD"
"""The variable with the pipe's descriptor; it takes the place of all others."""
PIPE_BYTES: Final = 1_000_000
_KEPT: Final = ("HOME", "LANG", "LC_ALL", "PATH")


def main(argv: list[str]) -> NoReturn:
    """Become tini, with PROGRAM as its child."""
    env = os.environ  # noqa: TID251  what is handed on whole
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    os.set_blocking(writer, False)
    os.write(writer, b"\0".join(b"%b=%b" % pair for pair in os.environb.items()))
    os.set_inheritable(reader, True)  # noqa: FBT003  its only argument
    kept = {name: env[name] for name in _KEPT if name in env}
    tini = trusted_programs.found("tini")
    os.execvpe(tini, ["tini", "--", *argv], {**kept, BY_PIPE: str(reader)})  # noqa: S606  it is to become that program


def handed_on(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment from the pipe, which that empties, else `env`."""
    number = env.get(BY_PIPE, "")
    if not number.isdigit():
        return dict(env)
    with open(int(number), "rb") as pipe:  # noqa: PTH123  a descriptor has no path
        pairs = [each.partition(b"=") for each in pipe.read().split(b"\0")]
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


if __name__ == "__main__":
    main(sys.argv[1:])
