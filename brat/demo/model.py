"""How the demo's runs reach the engine's model."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from brat.demo import played
from brat.demo.engine import Engine
from brat.demo.vendor.script import dump
from brat.model_keys import STAND_IN, model_keys
from brat.processes import Process
from convoy.config import Config

CALLS: Final = "calls.jsonl"
"""What the scripted model was asked: a JSON line each."""


@contextmanager
def reached(
    engine: Engine | None, folder: Path, ci_command: str
) -> Iterator[Mapping[str, str]]:
    """Give the variables that the runs need for it, and serve the scripted one.

    Raises:
        Unavailable: the scripted one did not start.
    """
    if engine is None:
        yield {}
    elif engine.is_scripted:
        yield from _served(folder, ci_command)
    else:
        yield model_keys(Config())


def _served(folder: Path, ci_command: str) -> Iterator[Mapping[str, str]]:
    script = folder / "script.json"
    script.write_bytes(dump(played.script(ci_command)))
    options = ("--script", str(script), "--log", str(folder / CALLS))
    process = Process("brat.demo.vendor", *options, log=folder / "vendor.log")
    try:
        yield {STAND_IN: str(json.loads(process.ready())["url"])}
    finally:
        process.stop()
