"""The engine's model, made reachable for the demo's runs."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from brat.demo import scripted_work
from brat.demo.demo_engine import Engine
from brat.demo.vendor.script import dump
from brat.local.child_processes import Process
from brat.local.model_keys import STAND_IN, model_keys
from convoy.config import Config

CALLS: Final = "calls.jsonl"
"""The file of the scripted model's calls: a JSON line each."""


@contextmanager
def reached(
    engine: Engine | None, folder: Path, ci_command: str
) -> Iterator[Mapping[str, str]]:
    """Yield the variables the runs need for the model; serve the model if scripted.

    Raises:
        Unavailable: the scripted model did not start.
    """
    if engine is None:
        yield {}
    elif engine.is_scripted:
        yield from _served(folder, ci_command)
    else:
        yield model_keys(Config())


def _served(folder: Path, ci_command: str) -> Iterator[Mapping[str, str]]:
    script = folder / "script.json"
    script.write_bytes(dump(scripted_work.script(ci_command)))
    options = ("--script", str(script), "--log", str(folder / CALLS))
    process = Process("brat.demo.vendor", *options, log=folder / "vendor.log")
    try:
        yield {STAND_IN: str(json.loads(process.ready())["url"])}
    finally:
        process.stop()
