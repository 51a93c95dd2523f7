"""A real CLI that does not end is ended when its budget is spent, and its work kept."""

import json

import pytest

from tests.engines.cases import COLUMNS, ENGINES, Engine
from tests.engines.driving import session, vendor
from tests.runner.job import Forge

pytestmark = pytest.mark.timeout(90)
CALLS = 4  # Gemini sees a loop by itself after five


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(each, id=each.type, marks=pytest.mark.needs(each.program))
        for each in ENGINES.values()
        if each.has_tools
    ],
)
def test_an_endless_loop_of_tools_is_ended_after_so_many_calls(
    forge: Forge, engine: Engine
) -> None:
    with vendor(forge.root, COLUMNS["loop"]) as served:
        left = session(forge, engine, COLUMNS["loop"], served.url, model_calls=CALLS)

    told = json.dumps(left.result), left.said[-2000:]
    assert left.result["outcome"] == "budget", told
    assert left.result["why"] == (
        f"The budget is spent: the session's budget of {CALLS} model calls is spent."
    )
    assert len(served.calls) == CALLS
    assert left.result["usage"]["input_tokens"] > 0
