"""The demo's machine that dies: a run and all its processes, gone at once.

An agent cannot end what runs it, so it only waits for its machine's end, and the demo
brings that about from outside.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

WAITS: Final = ["sleep", "86399"]
"""What the agent runs then; its script says the same."""
_RUNNER: Final = ["-m", "runner"]


def lose(folder: Path) -> None:
    """Kill each run below `folder` whose agent waits for that; safe to call often."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.cmdline() == WAITS and Path(process.cwd()).is_relative_to(
                folder
            ):
                _kill(process)


def _kill(agent: psutil.Process) -> None:
    """Kill the runner above an agent, and all below it."""
    above = [one for one in agent.parents() if one.cmdline()[-2:] == _RUNNER]
    for runner in above[-1:]:  # the uppermost: its guard
        for each in (runner, *runner.children(recursive=True)):
            with suppress(psutil.Error):
                each.kill()
