"""A real CLI in a real session, with a vendor that plays a script."""

import os
from base64 import b64encode
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec.structs import replace

from convoy.model.records import EngineSpec, Limits
from runner.engines import key_names
from tests.engines.cases import CAP_S, KEY, PROMPT, Column, Engine
from tests.engines.install import PROGRAMS
from tests.runner.job import Forge, Left, git
from tests.world.vendor.scripted import Served, scripted

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
TESTING = ("--auto-test", "--test-cmd", LOOKING)
"""By these Aider, whose model has no tools, runs a command after its edit."""


def vendor(folder: Path, column: Column) -> AbstractContextManager[Served]:
    return scripted(folder, column.script(LOOKING))


def session(forge: Forge, engine: Engine, at: str, /, **given: object) -> Left:
    """Run a session; `given` are changes to its engine and its limits."""
    limits = Limits(output_bytes=OUTPUT_BYTES)
    spec = EngineSpec(
        type=engine.type,
        model=engine.model,
        timeout_s=int(CAP_S),
        silence_s=int(CAP_S),
        args=() if engine.has_tools else TESTING,
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
