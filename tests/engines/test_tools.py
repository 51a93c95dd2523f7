"""A real CLI that is told which tools it may use can use no other."""

import json

import pytest

from runner.engines import ENGINES as ROWS
from tests.engines.cases import ENGINES, PROMPT, Engine, on
from tests.engines.driving import session
from tests.runner.job import Forge
from tests.world.vendor.script import Case, Insist, Script, Write
from tests.world.vendor.scripted import scripted

pytestmark = pytest.mark.timeout(90)
TOOLS = {
    "claude-code": ("Write", "Bash"),
    "opencode": ("edit", "bash"),
    "gemini": ("write_file", "run_shell_command"),
    "continue": ("Write", "Bash"),
    "copilot": ("view", "bash"),  # with this model it writes by its shell
}
"""One that it may use, and one that it may not."""


def test_all_others_are_refused_a_list_of_tools() -> None:
    told = {name for name, row in ROWS.items() if row.tools}

    assert told == TOOLS.keys()


@pytest.mark.parametrize(
    "engine",
    [on(ENGINES[name], named=name) for name in TOOLS],
)
def test_a_tool_that_is_not_listed_is_refused_and_that_stands_in_the_transcript(
    forge: Forge, engine: Engine
) -> None:
    may, may_not = TOOLS[engine.type]
    writes = engine.type != "copilot"
    given = (("command", "echo ran > ran.txt"), ("description", "Runs it"))
    wrote = (Write(path="hello.txt", content="hello"),) if writes else ()
    steps = (*wrote, Insist(tool=may_not, arguments=given))
    case = Case(when=(PROMPT,), steps=steps, closing="BRAT: done. Did what I may.")
    with scripted(forge.root, Script(cases=(case,))) as served:
        left = session(forge, engine, served.url, tools=(may,))

    told = json.dumps(left.result), left.said[-2000:]
    assert left.result["files"] == (["hello.txt"] if writes else []), told
    refused = [each["name"] for each in left.told if each.get("refused")]
    assert refused == [may_not], told
