"""A real CLI that is told which tools it may use can use no other."""

import json

import pytest

from convoy.config.values import TOOLLESS
from runner.engines import ENGINES as ROWS
from tests.engines.cases import COLUMNS, ENGINES, Engine
from tests.engines.driving import session, vendor
from tests.runner.job import Forge

pytestmark = pytest.mark.timeout(90)
TOOLS = {
    "claude-code": "Write",
    "opencode": "edit",
    "gemini": "write_file",
    "continue": "Write",
    "copilot": "view",  # with this model it writes by its shell
}


def test_all_others_are_refused_a_list_of_tools() -> None:
    told = {name for name, row in ROWS.items() if row.can.tools}

    assert told == TOOLS.keys()
    assert set(ROWS) - told == set(TOOLLESS)


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(
            ENGINES[name], id=name, marks=pytest.mark.needs(ENGINES[name].program)
        )
        for name in TOOLS
    ],
)
def test_only_the_tools_that_are_listed_work(forge: Forge, engine: Engine) -> None:
    column = COLUMNS["ok"]  # its model writes a file, then runs a command
    with vendor(forge.root, column) as served:
        left = session(forge, engine, column, served.url, tools=(TOOLS[engine.type],))

    told = json.dumps(left.result), left.said[-2000:]
    done = [] if engine.type == "copilot" else ["hello.txt"]
    assert left.result["files"] == done, told
    assert served.calls
