"""Programs that tests start: any one to its end, and the forge, which stays."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.world.patience import patient

DEADLINE_S = patient(20)
RUN_S = patient(300)


def ran(
    argv: Sequence[object],
    *,
    check: bool = False,
    input: str | None = None,  # noqa: A002  as subprocess calls it
    **more: Any,  # noqa: ANN401  what subprocess takes
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; return it with what it said."""
    return subprocess.run(
        [str(word) for word in argv],
        input=input or "",
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=check,
        **more,
    )


@dataclass(frozen=True)
class Program:
    process: subprocess.Popen[bytes]
    url: str

    def close_input(self) -> int:
        """Do as a parent that dies, and return how the forge ended."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(DEADLINE_S)


@contextmanager
def serving_program(folder: Path) -> Iterator[Program]:
    """Run `python -I -m brat.forge` on a folder; it is gone when the block ends."""
    argv = [sys.executable, "-I", "-m", "brat.forge", "--dir", str(folder)]
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": os.pathsep.join(os.get_exec_path())},
    ) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            yield Program(process, url)
        finally:
            process.kill()
