"""Runs a command and notes its processor time: `processor_time.py RECORD COMMAND...`.

That of everything it started, also of what it left behind. A program of its own: it
takes over and collects what its command's children leave.
"""

import ctypes
import os
import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
"""Of <linux/prctl.h>: what a process below leaves behind becomes this one's child."""
LEFT_S = 10.0
"""How long what is left behind may take to end."""


def used_s() -> float:
    """Return the processor seconds of all that has ended below this process."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Run the command, and return its exit status."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    status = subprocess.run(sys.argv[2:], check=False).returncode
    until = time.monotonic() + LEFT_S
    with suppress(ChildProcessError):  # none is left
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
    with Path(sys.argv[1]).open("a", encoding="utf-8") as record:
        record.write(f"{used_s()}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
