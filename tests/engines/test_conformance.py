"""Real CLIs, started and judged by the real runner, against a scripted vendor."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from brat.demo.vendor.script import Status, dump
from brat.processes import Process
from convoy.events import EngineSpec, Limits
from convoy.outcome import Outcome
from tests.engines.cases import CAP_S, COLUMNS, ENGINES, PROMPT, QUICK, Column, Engine
from tests.engines.install import PROGRAMS
from tests.runner.job import Forge, Left
from tests.world.terminal import left_running

pytestmark = pytest.mark.timeout(90)
OUTPUT_BYTES = 2_000_000
SHOWN = [*COLUMNS] if os.environ.get("BRAT_ENGINES") == "all" else [*QUICK]
MATRIX = [
    pytest.param(
        engine,
        COLUMNS[name],
        id=f"{engine.type}-{name}",
        marks=pytest.mark.needs(engine.program),
    )
    for engine in ENGINES.values()
    for name in SHOWN
    if name != "loop" or engine.has_tools
]


@dataclass(frozen=True)
class Served:
    """A vendor at work."""

    url: str
    log: Path

    @property
    def calls(self) -> list[dict[str, Any]]:
        """All calls of the model so far."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def vendor(folder: Path, column: Column) -> Iterator[Served]:
    script, log = folder / "script.json", folder / "calls.jsonl"
    script.write_bytes(dump(column.script()))
    options = ("--script", str(script), "--log", str(log))
    process = Process("brat.demo.vendor", *options, log=folder / "vendor.log")
    try:
        yield Served(json.loads(process.ready())["url"], log)
    finally:
        process.stop()


def session(forge: Forge, engine: Engine, column: Column, url: str) -> Left:
    spec = EngineSpec(
        type=engine.type,
        model=engine.model,
        timeout_s=column.timeout_s,
        silence_s=CAP_S,
    )
    started = forge.started(
        title=PROMPT, engine=spec, limits=Limits(output_bytes=OUTPUT_BYTES)
    )
    path = os.pathsep.join((str(PROGRAMS), *os.get_exec_path()))
    return forge.run(started, PATH=path, BRAT_MODEL_URL=url)


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(tmp_path)


@pytest.mark.parametrize(("engine", "column"), MATRIX)
def test_a_session_ends_as_the_vendor_made_it(
    forge: Forge, engine: Engine, column: Column
) -> None:
    with vendor(forge.root, column) as served:
        left = session(forge, engine, column, served.url)

    told = left.result, left.said[-3000:], left.err
    assert left.result["outcome"] in _right(engine, column), told
    assert served.calls, "the model was never called"
    assert left.result["seconds"] < CAP_S + 5
    assert (left.folder / "transcript.jsonl").stat().st_size < 2 * OUTPUT_BYTES
    assert left_running(forge.root) == []
    if "uncommitted" in column.outcomes:
        _worked(left, engine)


def _right(engine: Engine, column: Column) -> frozenset[Outcome]:
    code = column.fault.code if isinstance(column.fault, Status) else None
    retried = column.fault is not None and code != HTTPStatus.UNAUTHORIZED
    if engine.hides_retries and retried:
        return column.outcomes | {"deadline"}
    return column.outcomes


def _worked(left: Left, engine: Engine) -> None:
    wrote = ["hello.txt", "ran.txt"] if engine.has_tools else ["hello.txt"]
    assert left.result["conclusion"] == "success"
    assert left.result["summary"] == "Wrote hello.txt."
    assert sorted(left.result["files"]) == wrote
    usage = (left.folder / "usage.jsonl").read_text().splitlines()
    assert sum(json.loads(line).get("input_tokens", 0) for line in usage) > 0
