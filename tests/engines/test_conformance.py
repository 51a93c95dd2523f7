"""Real CLIs, started and judged by the real runner, against a scripted vendor."""

import json
import os
from http import HTTPStatus

import pytest

from brat.demo.vendor.script import Status
from convoy.outcome import Outcome
from tests.engines.cases import CAP_S, COLUMNS, ENGINES, QUICK, Column, Engine
from tests.engines.driving import OUTPUT_BYTES, session, vendor
from tests.runner.job import Forge, Left
from tests.world.terminal import left_running

pytestmark = pytest.mark.timeout(90)
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
