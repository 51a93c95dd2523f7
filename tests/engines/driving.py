"""A real CLI in a real session, with a vendor that plays a script."""

import json
import os
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from brat.local.forge_process import Process
from convoy.model.records import EngineSpec, Limits
from runner.engines import key_names
from tests.engines.cases import CAP_S, KEY, PROMPT, Column, Engine
from tests.engines.install import PROGRAMS
from tests.runner.job import Forge, Left, git
from tests.world.vendor.script import dump

OUTPUT_BYTES = 2_000_000
LOOK = r"""
p=$PPID
{
    env
    while [ "$p" -gt 1 ]; do
        tr '\0' '\n' < "/proc/$p/environ"
        p=$(sed -n 's/^PPid:\t//p' "/proc/$p/status")
    done
    grep -rlaF 'made-up''-key-' "$HOME"
} > look.txt 2> /dev/null
"""
"""Writes down what an engine knows: its environment and its parents', and which files
of its home hold a key. It leaves that in the checkout: of nothing else in the box does
anything come out."""

LOOKING = f"echo {b64encode(LOOK.encode()).decode()} | base64 -d | sh"


@dataclass(frozen=True)
class Served:
    url: str
    log: Path

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def vendor(folder: Path, column: Column) -> Iterator[Served]:
    script, log = folder / "script.json", folder / "calls.jsonl"
    script.write_bytes(dump(column.script(LOOKING)))
    options = ("--script", str(script), "--log", str(log))
    process = Process("tests.world.vendor", *options, log=folder / "vendor.log")
    try:
        yield Served(json.loads(process.ready())["url"], log)
    finally:
        process.stop()


def session(
    forge: Forge, engine: Engine, column: Column, at: str, /, **given: object
) -> Left:
    """Run a session; `given` are changes to its engine and its limits."""
    limits = Limits(output_bytes=OUTPUT_BYTES)
    spec = EngineSpec(
        type=engine.type,
        model=engine.model,
        timeout_s=int(CAP_S),
        silence_s=int(CAP_S),
        args=() if engine.has_tools else _testing(LOOKING),
    )
    ours = given.keys() & set(EngineSpec.__struct_fields__)
    spec = replace(spec, **{name: given.pop(name) for name in ours})
    started = forge.started(title=PROMPT, engine=spec, limits=replace(limits, **given))
    path = os.pathsep.join((str(PROGRAMS), *os.get_exec_path()))
    keys = {name: key(name) for name in key_names()}
    return forge.run(started, PATH=path, BRAT_MODEL_URL=at, **keys)


def seen(forge: Forge, left: Left) -> str:
    return git("show", "work:look.txt", cwd=forge.unpacked(left))


def key(name: str) -> str:
    return KEY + name.lower()


def _testing(command: str) -> tuple[str, ...]:
    """Let Aider, whose model has no tools, run a command after its edit."""
    return ("--auto-test", "--test-cmd", command)
