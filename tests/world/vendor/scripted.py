"""A vendor that plays a script, in a process of its own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brat.local.forge_process import Process
from tests.world.vendor.script import Script, dump


@dataclass(frozen=True)
class Served:
    url: str
    log: Path

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [each for each in self._noted() if "asked" not in each]

    @property
    def requests(self) -> list[dict[str, Any]]:
        """All that it was asked: `asked` is a method and a path, `body` a text."""
        return [each for each in self._noted() if "asked" in each]

    def _noted(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def scripted(folder: Path, script: Script) -> Iterator[Served]:
    file, log = folder / "script.json", folder / "calls.jsonl"
    file.write_bytes(dump(script))
    told = ("--script", str(file), "--log", str(log))
    process = Process("tests.world.vendor", *told, log=folder / "vendor.log")
    try:
        yield Served(json.loads(process.ready())["url"], log)
    finally:
        process.stop()
