"""The demo's bot: a process that can be killed and started again on the same port."""

import os
from pathlib import Path
from typing import Final

from brat.local.forge_process import Process
from brat.local.local_mode import bot_settings
from brat.repository.registration import Registration

_FILE: Final = "bot.json"


class BotProcess:
    """One bot, alive or dead."""

    def __init__(self, folder: Path, known: Registration, url: str) -> None:
        """Write its settings; nothing is started."""
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
        """Start it and wait until its door is open.

        Raises:
            Unavailable: it did not start.
        """
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
