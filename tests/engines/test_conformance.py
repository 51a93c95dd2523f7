"""Real CLIs, started and judged by the real runner, against a scripted vendor."""

import json
import os
import re
from http import HTTPStatus

import pytest

from convoy.model.records import EngineSpec
from runner.engines import ENGINES as ROWS
from runner.engines.row import Call
from tests.engines.cases import (
    COLUMNS,
    ENGINES,
    KEY,
    QUICK,
    RETRIES_S,
    Column,
    Engine,
    on,
)
from tests.engines.driving import OUTPUT_BYTES, key, seen, session, vendor
from tests.runner.job import Forge, Left
from tests.world.terminal import left_running
from tests.world.vendor.script import Status
from tests.world.vendor.vendor_server import digest

pytestmark = pytest.mark.timeout(90)
SHOWN = [*COLUMNS] if os.environ.get("BRAT_ENGINES") == "all" else [*QUICK]
MATRIX = [
    on(engine, engine, COLUMNS[name], named=f"{engine.type}-{name}")
    for engine in ENGINES.values()
    for name in SHOWN
    if name != "loop" or engine.has_tools
]


@pytest.mark.parametrize(("engine", "column"), MATRIX)
def test_a_session_ends_as_the_vendor_made_it(
    forge: Forge, engine: Engine, column: Column
) -> None:
    tries_on = _tries_on(engine, column)
    with vendor(forge.root, column) as served:

        def run(limit_s: int) -> Left:
            times = {"timeout_s": limit_s, "silence_s": limit_s}
            return session(forge, engine, served.url, **times)

        if limit_s := column.limit_s or RETRIES_S * tries_on:
            left = forge.overdue(run, lambda _: bool(served.calls), limit_s)
        else:
            left = session(forge, engine, served.url)

    told = left.result, left.said[-3000:], left.err
    right = column.outcomes | ({"deadline"} if tries_on else set())
    assert left.result["outcome"] in right, told
    assert served.calls, "the model was never called"
    spec = EngineSpec(type=engine.type, model=engine.model)
    vendors = Call(ROWS[engine.type], spec, endpoint=served.url).vendor
    assert {each["key"] for each in served.calls} == {digest(key(vendors.key))}
    assert (left.folder / "transcript.jsonl").stat().st_size < 2 * OUTPUT_BYTES
    assert left_running(forge.root) == []
    if "uncommitted" in column.outcomes:
        _worked(left, engine)
        _knows_no_key(seen(forge, left))


def _knows_no_key(found: str) -> None:
    assert "BRAT_SESSION=" not in found
    assert re.search(r"=.*\bbrat-[0-9a-f]{32}\b", found), "it looked elsewhere"
    assert KEY not in found
    assert not [line for line in found.splitlines() if line.startswith("/")]


def _tries_on(engine: Engine, column: Column) -> bool:
    """Tell whether a session need not end by itself."""
    code = column.fault.code if isinstance(column.fault, Status) else None
    retried = column.fault is not None and code != HTTPStatus.UNAUTHORIZED
    return engine.hides_retries and retried


def _worked(left: Left, engine: Engine) -> None:
    wrote = ["hello.txt", "look.txt", *(["ran.txt"] if engine.has_tools else [])]
    assert left.result["conclusion"] == "success"
    assert left.result["summary"] == "Wrote hello.txt."
    assert sorted(left.result["files"]) == wrote
    usage = (left.folder / "usage.jsonl").read_text().splitlines()
    assert sum(json.loads(line).get("input_tokens", 0) for line in usage) > 0
