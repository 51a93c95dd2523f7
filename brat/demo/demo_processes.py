"""The demo's bot, which is killed and started again, and its machine, which dies once.

The bot comes back on the same port; of the machine a run and all its processes end at
once.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

from brat.local.forge_process import Process
from brat.local.local_mode import bot_settings
from brat.repository.registration import Registration

_FILE: Final = "bot.json"


class BotProcess:
    """One bot, alive or dead."""

    def __init__(self, folder: Path, known: Registration, url: str) -> None:
        self.port = 0
        self._folder = folder
        self._process: Process | None = None
        alone = bot_settings(folder, known, url)
        settings = alone.model_copy(update={"ends_with_stdin": True})
        handle = os.open(folder / _FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(settings.model_dump_json())

    @property
    def running(self) -> bool:
        """Whether it lives."""
        return self._process is not None and self._process.running

    def start(self) -> None:
        """Start it and wait until its door is open."""
        log = self._folder / "bot.log"
        file = str(self._folder / _FILE)
        self._process = Process("bot", file, str(self.port), log=log)
        self.port = int(self._process.ready())

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        if self._process is not None:
            self._process.kill()

    def stop(self) -> None:
        """End it in good order; safe to call twice."""
        if self._process is not None:
            self._process.stop()
            self._process = None


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
