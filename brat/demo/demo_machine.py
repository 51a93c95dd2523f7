"""The demo's machine that dies: a run and all its processes end at once.

An agent cannot end its own runner, so it only waits, and the demo kills the runner from
outside.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

WAITS: Final = ["sleep", "86399"]
"""The command an agent waits with; the agent's script holds the same command."""
END_S: Final = 5.0
_RUNNER: Final = ["-m", "runner"]


def lose(folder: Path) -> None:
    """Kill each run below `folder` whose agent waits for it; safe to call often."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.cmdline() == WAITS and Path(process.cwd()).is_relative_to(
                folder
            ):
                _kill(process)


def end_all(folder: Path) -> None:
    """Kill every process that works below `folder`: runs outlive their forge."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if Path(process.cwd()).is_relative_to(folder):
                process.kill()
                process.wait(END_S)


def _kill(agent: psutil.Process) -> None:
    """Kill the runner above an agent, and all the runner's descendants."""
    above = [one for one in agent.parents() if one.cmdline()[-2:] == _RUNNER]
    for runner in above[-1:]:  # the uppermost: its guard
        for each in (runner, *runner.children(recursive=True)):
            with suppress(psutil.Error):
                each.kill()
